//! The arguments of `#[agent_hook]`.

use std::sync::{Arc, Mutex};

use hooks_agent_core::hook::{AroundMask, HookRun, HookWatcher};
use hooks_agent_core::prelude::*;
use hooks_agent_core::tool::Tools;

struct Nobody;

impl HookWatcher for Nobody {
    fn hook_ran(&self, _: &HookRun<'_>) {}
}

struct Described {
    is_on: bool,
}

#[agent_hook(
    name = format!("described {}", self.is_on),
    priority = if self.is_on { 7 } else { 8 },
    role = self.is_on.then_some(HookRole::Guards),
    inherit,
    always = self.is_on,
    once = false,
    events = EventKind::PreCall,
    around = if self.is_on { AroundMask::TOOL_CALL } else { AroundMask::NONE },
    answers = EventMask::NONE,
    answers_around = AroundMask::MODEL_CALL,
    tools = Self::tools_of,
    tool_names = |hook: &Self| vec![hook.is_on.to_string()],
    counter = |_: &Self| Some("counted".to_owned()),
    watcher = |_: &Self| Some(Arc::new(Nobody)),
    ends_with_process = |_: &Self| Some("it is lost".to_owned())
)]
impl Described {
    fn before(&self, _: &PreCall<'_>) -> Flow {
        Flow::Continue
    }

    fn after(&self, _: &PostCall<'_>) {}

    async fn around(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        next.run(call.into_tool_use()).await
    }

    fn tools_of(&self) -> Tools {
        vec![Arc::new(FunctionTool::new("look", "Looks.", async |_: serde_json::Value| "seen"))]
    }
}

#[test]
fn each_argument_fills_the_method_of_its_name() {
    let (on, off) = (Described { is_on: true }, Described { is_on: false });
    let texts = |hook: &Described| {
        (hook.name(), hook.priority(), hook.role(), hook.always(), AgentHook::around(hook))
    };
    let tools = AroundMask::TOOL_CALL;
    assert_eq!(texts(&on), ("described true".into(), 7, Some(HookRole::Guards), true, tools));
    assert_eq!(texts(&off), ("described false".into(), 8, None, false, AroundMask::NONE));
    assert!(on.inherit() && !on.once() && on.watcher().is_some());
    assert_eq!(on.tools()[0].name(), "look");
    assert_eq!(on.tool_names(), ["true"]);
    assert_eq!(on.counter().as_deref(), Some("counted"));
    assert_eq!(on.ends_with_process().as_deref(), Some("it is lost"));
}

#[test]
fn a_mask_is_never_more_than_the_handlers() {
    let hook = Described { is_on: true };
    assert_eq!(hook.events(), EventKind::PreCall.into());
    assert_eq!(hook.answers(), EventMask::NONE);
    // It runs around no model call, and so answers none.
    assert_eq!(hook.answers_around(), AroundMask::NONE);
}

#[derive(Clone, Default)]
struct Rest(Arc<Mutex<Vec<String>>>);

impl Rest {
    fn push(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }
}

#[agent_hook]
impl Rest {
    async fn before(&self, _: &PreReasoning<'_>) {
        tokio::task::yield_now().await;
        self.push("own");
    }

    fn note(&self, event: &HookEvent<'_>) {
        self.push(event.kind().name());
    }
}

#[tokio::test]
async fn a_method_of_any_event_receives_what_no_other_takes() {
    let rest = Rest::default();
    assert_eq!(rest.events(), EventMask::ALL);
    assert!(!rest.sync_events().contains(EventKind::PreReasoning));
    assert!(rest.sync_events().contains(EventKind::Settled));
    assert_eq!(rest.answers(), EventMask::NONE);
    let model = ScriptedModel::new("fixed", |_| "Done.");
    let builder = ReActAgent::builder("assistant").model(model);
    let agent = builder.hook(rest.clone()).build().unwrap();
    agent.call("Go").await.unwrap();
    let seen = rest.0.lock().unwrap().clone();
    assert_eq!(
        seen,
        ["PRE_CALL", "own", "REASONING_CHUNK", "POST_REASONING", "POST_CALL", "SETTLED"]
    );
}

#[derive(Default)]
struct Waits(Mutex<usize>);

#[agent_hook(events = EventMask::of(&[EventKind::PreCall, EventKind::PostCall]))]
impl Waits {
    async fn note(&self, _: &mut HookEvent<'_>) -> HookResult {
        tokio::task::yield_now().await;
        *self.0.lock().unwrap() += 1;
        Ok(())
    }
}

#[tokio::test]
async fn a_method_of_any_event_may_wait_and_be_of_some_events_alone() {
    let waits = Arc::new(Waits::default());
    assert_eq!(waits.sync_events(), EventMask::NONE);
    let model = ScriptedModel::new("fixed", |_| "Done.");
    let builder = ReActAgent::builder("assistant").model(model);
    let agent = builder.hook(waits.clone()).build().unwrap();
    agent.call("Go").await.unwrap();
    assert_eq!(*waits.0.lock().unwrap(), 2);
}
