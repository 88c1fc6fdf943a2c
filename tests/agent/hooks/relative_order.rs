//! Event hooks that ask where to stand, by the names of others.

use std::sync::Arc;

use hooks_agent_core::error::BuildError;
use hooks_agent_core::hook::AgentHookExt;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::{HookSet, HookSource, ReActAgentBuilder};
use hooks_agent_core::testing::{Calls, Script};
use hooks_core::plan::PlannedHook;
use hooks_core::{HookOrder, Hookable, OrderFault};
use hooks_fixtures::Records;
use serde_json::json;

type Ran = Arc<Records<String>>;

fn bare(name: &str) -> ReActAgentBuilder {
    ReActAgent::builder(name)
        .model(Script::new().says("done").says("done").says("done").says("done").says("done"))
}

/// Records the events of these kinds.
fn noting(ran: &Ran, name: &'static str, events: EventMask) -> impl AgentHook {
    let ran = ran.clone();
    on_any(move |event: &mut HookEvent<'_>| ran.push(format!("{name} {:?}", event.kind())))
        .within(events)
        .named(name)
}

/// A hook of chosen events.
struct OnAny<F>(F, EventMask);

fn on_any<F: Fn(&mut HookEvent<'_>) + Send + Sync + 'static>(note: F) -> OnAny<F> {
    OnAny(note, EventMask::ALL)
}

impl<F> OnAny<F> {
    fn within(self, events: EventMask) -> Self {
        Self(self.0, events)
    }
}

impl<F: Fn(&mut HookEvent<'_>) + Send + Sync + 'static> AgentHook for OnAny<F> {
    fn events(&self) -> EventMask {
        self.1
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        self.0(event);
        Ok(Flow::Continue)
    }
}

const ENDS: EventMask = EventMask::of(&[EventKind::PreCall, EventKind::PostCall]);

fn start() -> EventMask {
    EventKind::PreCall.into()
}

/// Returns the fault of a call that has no order.
async fn fault(agent: &ReActAgent) -> Option<String> {
    let error = agent.call("Go").await.err()?;
    let text = error.to_string();
    assert!(text.contains("have no order"), "{text}");
    Some(text)
}

#[tokio::test]
async fn a_hook_runs_before_and_after_others_at_each_event_that_both_have() {
    let ran = Ran::default();
    let agent = bare("bot")
        .hook(noting(&ran, "audit", ENDS))
        .hook(noting(&ran, "late", ENDS).with_priority(0).after("audit"))
        .hook(noting(&ran, "early", EventKind::PostCall.into()).with_priority(900).before("audit"))
        .hook(noting(&ran, "first", start()).with_priority(-5).requires("early"))
        .build()
        .unwrap();
    agent.call("Go").await.unwrap();
    assert_eq!(
        ran.take(),
        [
            "first PreCall",
            "audit PreCall",
            "late PreCall",
            "early PostCall",
            "audit PostCall",
            "late PostCall",
        ]
    );
    let plan = agent.hook_plan();
    assert!(plan.warnings().is_empty());
    let late = plan.hooks().iter().find(|hook| hook.name() == "late").unwrap();
    assert_eq!(late.order().unwrap().to_string(), "after audit");
}

#[test]
fn an_agent_whose_own_hooks_have_no_order_is_not_built() {
    let ran = Ran::default();
    let hook = |name| noting(&ran, name, ENDS);
    let error = |builder: ReActAgentBuilder| {
        let error = builder.build().expect_err("no order");
        assert!(matches!(error, BuildError::Misordered { .. }), "{error}");
        error.to_string()
    };
    assert_eq!(
        error(bare("bot").hook(hook("a").before("pii"))),
        "the hooks of agent `bot` have no order: `a` is to run before `pii`, and no hook has that name: add one, or remove \
         the relation"
    );
    error(bare("bot").hook(hook("a").after("pii")));
    error(bare("bot").hook(hook("a").requires("pii")));
    let circle = error(bare("bot").hook(hook("a").before("b")).hook(hook("b").before("a")));
    assert!(circle.contains("`a`, `b`, `a`"), "{circle}");
    error(bare("bot").hook(hook("a").after("a")));
    let order = HookOrder::new().before("pii").where_present();
    assert!(bare("bot").hook(hook("a").ordered(order)).build().is_ok());
}

#[tokio::test]
async fn a_relation_to_a_hook_of_a_method_holds_too() {
    let agent = bare("bot").build().unwrap();
    agent.register_instance_hook(
        ReActAgent::POST_REPLY,
        "stamp",
        hooks_core::hook!(ReActAgent::POST_REPLY, |_, _, reply| reply.push_text(" stamped")),
    );
    let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" signed"));
    agent.register_agent_hook(sign.named("sign").before("stamp"));
    assert_eq!(agent.call("Go").await.unwrap().text(), "done signed stamped");
    agent.remove_instance_hook(ReActAgent::POST_REPLY, "stamp").unwrap();
    assert!(fault(&agent).await.is_some());
}

#[tokio::test]
async fn a_call_fails_before_any_hook_if_a_hook_is_registered_or_removed_later() {
    let ran = Ran::default();
    let agent = bare("bot").hook(noting(&ran, "pii", ENDS)).build().unwrap();
    agent.register_agent_hook(noting(&ran, "log", start()).with_priority(i32::MIN).after("pii"));
    agent.call("Go").await.unwrap();
    assert_eq!(ran.take(), ["pii PreCall", "log PreCall", "pii PostCall"]);
    let one = agent.with_agent_hook(noting(&ran, "x", ENDS).requires("nobody"));
    assert!(fault(&one).await.unwrap().contains("`x` requires `nobody`"));
    agent.remove_agent_hook("pii").unwrap();
    assert!(fault(&agent).await.unwrap().contains("`log` is to run after `pii`"));
    assert!(ran.take().is_empty());
    agent.register_agent_hook(noting(&ran, "pii", ENDS));
    agent.call("Go").await.unwrap();
    assert_eq!(ran.take(), ["pii PreCall", "log PreCall", "pii PostCall"]);
}

/// Chooses one set.
struct Fixed(HookSet);

impl HookSource for Fixed {
    fn hooks(&self, _: &CallContext) -> HookSet {
        self.0.clone()
    }
}

#[tokio::test]
async fn chosen_hooks_are_looked_at_in_each_call() {
    let ran = Ran::default();
    let source = || Fixed(HookSet::of(noting(&ran, "chosen", start()).before("own")));
    let agent =
        bare("bot").hook(noting(&ran, "own", start())).hook_source(source()).build().unwrap();
    agent.call("Go").await.unwrap();
    assert_eq!(ran.take(), ["chosen PreCall", "own PreCall"]);
    assert!(fault(&bare("bot").hook_source(source()).build().unwrap()).await.is_some());
    // An own hook may ask for a chosen one.
    let own = noting(&ran, "first", start()).before("chosen");
    let agent = bare("bot").hook(own).hook(noting(&ran, "own", start())).hook_source(source());
    agent.build().unwrap().call("Go").await.unwrap();
    assert_eq!(ran.take(), ["first PreCall", "chosen PreCall", "own PreCall"]);
}

#[tokio::test]
async fn an_inherited_hook_that_asks_for_a_missing_one_fails_the_call_of_the_sub_agent() {
    let ran = Ran::default();
    let model = || {
        let call = ToolUse::new("1", "sub", json!({"task": "Go"}));
        Script::new().calls([call]).says("end")
    };
    let log = || noting(&ran, "log", start()).inherited(true).after("pii");
    let pii = || noting(&ran, "pii", start());
    let agent = |pii: hooks_agent_core::hook::Placed<_>, sub: ReActAgentBuilder| {
        let sub = sub.build().unwrap().to_tool("Helps.");
        ReActAgent::builder("main").model(model()).tool(sub).hook(log()).hook(pii).build().unwrap()
    };
    let both = agent(pii().inherited(true), bare("sub"));
    both.call("Go").await.unwrap();
    assert_eq!(ran.take(), ["pii PreCall", "log PreCall", "pii PreCall", "log PreCall"]);
    let own = agent(pii().inherited(false), bare("sub").hook(pii()));
    own.call("Go").await.unwrap();
    assert_eq!(ran.take(), ["pii PreCall", "log PreCall", "pii PreCall", "log PreCall"]);
    let one = agent(pii().inherited(false), bare("sub"));
    let _ended = one.call("Go").await;
    assert_eq!(ran.take(), ["pii PreCall", "log PreCall"]);
    let results = one.memory().messages();
    let text = format!("{results:?}");
    assert!(text.contains("have no order"), "{text}");
}

struct Around(&'static str, Ran);

impl AgentHook for Around {
    fn name(&self) -> String {
        self.0.to_owned()
    }
    fn events(&self) -> EventMask {
        EventMask::NONE
    }
    fn around(&self) -> hooks_agent_core::hook::AroundMask {
        hooks_agent_core::hook::AroundMask::TOOL_CALL
    }
    async fn around_tool_call(
        &self,
        call: hooks_agent_core::hook::ToolCall<'_>,
        next: hooks_agent_core::hook::NextTool<'_>,
    ) -> Result<ToolResult, hooks_agent_core::tool::ToolError> {
        self.1.push(self.0.to_owned());
        next.run(call.into_tool_use()).await
    }
}

#[tokio::test]
async fn around_a_call_before_is_further_out() {
    let ran = Ran::default();
    let script = Script::new().calls([ToolUse::new("1", "go", json!({}))]).says("done");
    let agent = ReActAgent::builder("bot")
        .model(script)
        .tool(Calls::new("go").answers("ok"))
        .hook(Around("inner", ran.clone()))
        .hook(Around("outer", ran.clone()).with_priority(900).before("inner"))
        .build()
        .unwrap();
    agent.call("Go").await.unwrap();
    assert_eq!(ran.take(), ["outer", "inner"]);
}

#[tokio::test]
async fn hooks_in_shadow_keep_their_order_and_count_as_there() {
    let ran = Ran::default();
    let agent = bare("bot")
        .hook(noting(&ran, "pii", start()))
        .hook(noting(&ran, "tried", start()).before("pii").in_shadow())
        .hook(noting(&ran, "log", start()).requires("tried"))
        .build()
        .unwrap();
    let plan = Hookable::hook_plan(&agent);
    let names = plan.hooks().iter().filter(|hook| hook.hook_type().to_string() == "pre_reply");
    let names: Vec<_> = names.map(PlannedHook::name).collect();
    assert_eq!(names, ["tried", "pii", "log"]);
}

struct Asking;

#[agent_hook(name = "asking", priority = 900, before = "sign", after = ["thank"], requires = "thank")]
impl Asking {
    fn end(&self, event: &mut PostCall<'_>) {
        event.final_message_mut().push_text(" 2");
    }
}

#[tokio::test]
async fn the_attribute_says_it_too() {
    let push = |name: &'static str, text: &'static str| {
        on(move |event: &mut PostCall<'_>| event.final_message_mut().push_text(text)).named(name)
    };
    let agent = bare("bot")
        .hook(push("sign", " 3"))
        .hook(push("thank", " 1").with_priority(5))
        .hook(Asking);
    assert_eq!(agent.build().unwrap().call("Go").await.unwrap().text(), "done 1 2 3");
    let error = bare("bot").hook(Asking).build().err().unwrap();
    let BuildError::Misordered { fault: OrderFault::Missing { name, .. }, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(name, "sign");
}

/// A hook that receives nothing.
struct Silent(&'static str);

impl AgentHook for Silent {
    fn name(&self) -> String {
        self.0.to_owned()
    }

    fn events(&self) -> EventMask {
        EventMask::NONE
    }
}

#[tokio::test]
async fn an_order_that_was_right_is_looked_at_again_when_any_hook_goes() {
    let ran = Ran::default();
    let log = || noting(&ran, "log", start()).requires("silent").requires("silent of all");
    ReActAgent::register_class_agent_hook(Silent("silent of all"));
    let agent = bare("bot").hook(Silent("silent")).hook(log()).build().unwrap();
    assert!(fault(&agent).await.is_none());
    assert!(fault(&agent).await.is_none());
    agent.remove_agent_hook("silent").unwrap();
    assert!(fault(&agent).await.is_some());
    agent.register_agent_hook(Silent("silent"));
    assert!(fault(&agent).await.is_none());
    ReActAgent::remove_class_agent_hook("silent of all").unwrap();
    assert!(fault(&agent).await.is_some());
    ReActAgent::register_class_agent_hook(Silent("silent of all"));
    assert!(fault(&agent).await.is_none());
    ReActAgent::remove_class_agent_hook("silent of all").unwrap();
}
