//! Attacks on hooks that ask where to stand, and on hooks that run at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use hooks_agent_core::call::{Interrupt, RunId};
use hooks_agent_core::hook::{AgentHookExt, HookFlow, HookRun, HookWatcher};
use hooks_agent_core::journal::MemoryJournal;
use hooks_agent_core::message::{Approvers, PendingCall, Question};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::{Calls, Script};
use hooks_core::{BoxError, HookOptions, HookOrder, Hookable, Hooks, hook, hookable};
use hooks_fixtures::Records;
use hooks_fixtures::journaled::{World, run};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

type Ran = Arc<Records<String>>;

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn bare(name: &str) -> ReActAgentBuilder {
    ReActAgent::builder(name).model(ScriptedModel::new("fixed", |_| "done"))
}

/// An agent that calls the tool `pay` once for each of these amounts.
fn paying(amounts: &[u64]) -> (ReActAgentBuilder, Calls) {
    let calls: Vec<_> = amounts
        .iter()
        .map(|amount| ToolUse::new(amount.to_string(), "pay", json!({"amount": amount})))
        .collect();
    let tool = Calls::new("pay").answers("paid");
    let mut model = Script::new().calls(calls);
    for _ in 0..20 {
        model = model.says("done");
    }
    (ReActAgent::builder("bot").model(model).tool(tool.clone()).parallel_tools(true), tool)
}

/// Records its events.
struct Noting(Ran, &'static str, EventMask);

impl AgentHook for Noting {
    fn name(&self) -> String {
        self.1.to_owned()
    }

    fn events(&self) -> EventMask {
        self.2
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        self.0.push(format!("{} {:?}", self.1, event.kind()));
        Ok(Flow::Continue)
    }
}

fn noting(ran: &Ran, name: &'static str, events: impl Into<EventMask>) -> Noting {
    Noting(ran.clone(), name, events.into())
}

const ENDS: EventMask = EventMask::of(&[EventKind::PreCall, EventKind::PostCall]);

fn is_misordered<T>(ended: &Result<T, AgentError>) -> bool {
    matches!(ended, Err(error) if error.to_string().contains("have no order"))
}

// ---------------------------------------------------------------- order

#[tokio::test]
async fn a_circle_at_a_late_event_by_later_hooks_fails_the_call_before_any_hook() {
    let ran = Ran::default();
    let (builder, tool) = paying(&[1]);
    let agent = builder.hook(noting(&ran, "start", EventKind::PreCall)).build().unwrap();
    agent.register_agent_hook(noting(&ran, "b", EventKind::PreActing));
    agent.register_agent_hook(noting(&ran, "a", EventKind::PreActing).before("b"));
    agent.register_agent_hook(noting(&ran, "b", EventKind::PreActing).before("a"));
    let ended = agent.call("Go").await;
    assert!(is_misordered(&ended), "{ended:?}");
    tool.assert_called_with([]);
    assert_eq!(ran.take(), [""; 0]);
}

#[tokio::test]
async fn a_circle_at_every_event_is_an_error_and_no_panic() {
    let ran = Ran::default();
    let agent = Arc::new(bare("bot").hook(noting(&ran, "b", EventMask::ALL)).build().unwrap());
    agent.register_agent_hook(noting(&ran, "a", EventMask::ALL).before("b"));
    agent.register_agent_hook(noting(&ran, "b", EventMask::ALL).before("a"));
    let ended = tokio::spawn(async move { agent.call("Go").await }).await;
    let ended = ended.map_err(|error| error.to_string());
    assert!(matches!(&ended, Ok(ended) if is_misordered(ended)), "{ended:?}");
}

#[tokio::test]
async fn a_circle_at_chunks_is_an_error_and_no_panic() {
    let ran = Ran::default();
    let agent = Arc::new(bare("bot").build().unwrap());
    agent.register_agent_hook(noting(&ran, "b", EventKind::ReasoningChunk));
    agent.register_agent_hook(noting(&ran, "a", EventKind::ReasoningChunk).before("b"));
    agent.register_agent_hook(noting(&ran, "b", EventKind::ReasoningChunk).before("a"));
    let ended = tokio::spawn(async move { agent.call("Go").await }).await;
    let ended = ended.map_err(|error| error.to_string());
    assert!(matches!(&ended, Ok(ended) if is_misordered(ended)), "{ended:?}");
}

#[tokio::test]
async fn a_call_that_is_dropped_does_not_panic_in_drop() {
    let ran = Ran::default();
    let waits = hooks_agent_core::on!(async |_: &mut PreCall<'_>| {
        std::future::pending::<()>().await;
        Flow::Continue
    });
    let agent = Arc::new(bare("bot").hook(waits).build().unwrap());
    agent.register_agent_hook(noting(&ran, "b", EventKind::Settled));
    agent.register_agent_hook(noting(&ran, "a", EventKind::Settled).before("b"));
    agent.register_agent_hook(noting(&ran, "b", EventKind::Settled).before("a"));
    let ended = tokio::spawn(async move {
        let mut call = Box::pin(agent.call("Go"));
        let _ = futures::poll!(&mut call);
    });
    assert!(ended.await.is_ok());
}

#[tokio::test]
async fn a_class_hook_that_is_to_run_before_one_of_the_agent_is_an_error_and_no_panic() {
    let (ran, order) = (Ran::default(), HookOrder::new().before("attacked pii").where_present());
    let class = noting(&Ran::default(), "attacked level", EventMask::ALL).ordered(order);
    ReActAgent::register_class_agent_hook(class);
    let agent = bare("bot").hook(noting(&ran, "attacked pii", EventMask::ALL)).build().unwrap();
    let ended = tokio::spawn(async move { agent.call("Go").await }).await;
    ReActAgent::remove_class_agent_hook("attacked level").unwrap();
    let ended = ended.map_err(|error| error.to_string());
    assert!(matches!(&ended, Ok(ended) if is_misordered(ended)), "{ended:?}");
}

#[tokio::test]
async fn an_inherited_hook_in_a_circle_with_one_of_the_sub_agent_fails_the_call_of_the_sub_agent() {
    let ran = Ran::default();
    let order = |name: &str| HookOrder::new().before(name.to_owned()).where_present();
    let sub = bare("sub").hook(noting(&ran, "own", EventMask::ALL).ordered(order("guard")));
    let sub = sub.build().unwrap().to_tool("Helps.");
    let model = Script::new().calls([ToolUse::new("1", "sub", json!({"task": "Go"}))]).says("end");
    let guard = noting(&Ran::default(), "guard", EventMask::ALL).ordered(order("own"));
    let agent = ReActAgent::builder("main").model(model).tool(sub).hook(guard.inherited(true));
    let agent = agent.build().unwrap();
    let ended = tokio::spawn(async move { agent.call("Go").await.map(|it| it.text()) }).await;
    let ended = ended.map_err(|error| error.to_string());
    assert!(matches!(&ended, Ok(Ok(text)) if text == "end"), "{ended:?}");
}

/// The environment variable that has the test below run its call, which may abort its process.
const CALLS: &str = "HOOKS_TEST_CALLS";

#[tokio::test]
async fn a_panic_in_a_call_without_order_at_its_end_does_not_abort_the_process() {
    if std::env::var_os(CALLS).is_some() {
        let ran = Ran::default();
        let panics = on(|_: &mut PreCall<'_>| -> Flow { panic!("broken") });
        let agent = Arc::new(bare("bot").hook(panics).build().unwrap());
        agent.register_agent_hook(noting(&ran, "b", EventKind::Settled));
        agent.register_agent_hook(noting(&ran, "a", EventKind::Settled).before("b"));
        agent.register_agent_hook(noting(&ran, "b", EventKind::Settled).before("a"));
        let ended = tokio::spawn(async move { agent.call("Go").await.map(|_| ()) }).await;
        assert!(ended.unwrap().unwrap_err().to_string().contains("have no order"));
        return;
    }
    let name = "hooks::attacked_order::a_panic_in_a_call_without_order_at_its_end_does_not_abort_the_process";
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name])
        .env(CALLS, "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn the_warnings_of_a_plan_say_that_calls_fail() {
    let ran = Ran::default();
    let agent = bare("bot").hook(noting(&ran, "pii", ENDS)).build().unwrap();
    agent.register_agent_hook(noting(&ran, "log", ENDS).after("pii"));
    agent.remove_agent_hook("pii").unwrap();
    assert!(is_misordered(&agent.call("Go").await));
    let plan = agent.hook_plan();
    let warnings: Vec<_> = plan.warnings().iter().map(ToString::to_string).collect();
    assert!(warnings.iter().any(|it| it.contains("`pii`")), "{warnings:?}");
}

/// A hook without events: it only watches.
struct OnlyWatches;

struct Nobody;

impl HookWatcher for Nobody {
    fn hook_ran(&self, _: &HookRun<'_>) {}
}

impl AgentHook for OnlyWatches {
    fn name(&self) -> String {
        "watch".to_owned()
    }

    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    fn watcher(&self) -> Option<Arc<dyn HookWatcher>> {
        Some(Arc::new(Nobody))
    }
}

/// A hook without events: it only brings a tool.
struct OnlyTools;

impl AgentHook for OnlyTools {
    fn name(&self) -> String {
        "tools".to_owned()
    }

    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        vec![Arc::new(Calls::new("pay").answers("paid"))]
    }
}

#[test]
fn a_hook_that_only_watches_is_there_by_its_name() {
    let ran = Ran::default();
    let built =
        bare("bot").hook(OnlyWatches).hook(noting(&ran, "log", ENDS).requires("watch")).build();
    assert!(built.is_ok(), "{}", built.unwrap_err());
}

#[test]
fn a_hook_that_only_brings_tools_is_there_by_its_name() {
    let ran = Ran::default();
    let built =
        bare("bot").hook(OnlyTools).hook(noting(&ran, "log", ENDS).requires("tools")).build();
    assert!(built.is_ok(), "{}", built.unwrap_err());
}

#[tokio::test]
async fn all_hooks_of_a_name_are_meant() {
    let ran = Ran::default();
    let agent = bare("bot")
        .hook(noting(&ran, "x", EventKind::PreCall).with_priority(10))
        .hook(noting(&ran, "x", EventKind::PreCall).with_priority(500))
        .hook(noting(&ran, "behind", EventKind::PreCall).with_priority(1).after("x"))
        .hook(noting(&ran, "ahead", EventKind::PreCall).with_priority(700).before("x"))
        .build()
        .unwrap();
    agent.call("Go").await.unwrap();
    let ran = ran.take();
    assert_eq!(ran, ["ahead PreCall", "x PreCall", "x PreCall", "behind PreCall"]);
}

#[tokio::test]
async fn a_refused_call_leaves_what_waits_and_its_resumption_works_later() {
    let ran = Ran::default();
    let (builder, tool) = paying(&[1]);
    let ask = on(|event: &mut PreActing<'_>| event.ask("sure?")).named("ask");
    let agent = builder.hook(noting(&ran, "pii", ENDS)).hook(ask).build().unwrap();
    agent.register_agent_hook(noting(&ran, "log", ENDS).requires("pii"));
    let asked = agent.call("Go").await.unwrap();
    let id = asked.pending()[0].id.clone();
    agent.remove_agent_hook("pii").unwrap();
    assert!(is_misordered(&agent.resume(CallOptions::new().confirm(&id)).await));
    tool.assert_called_with([]);
    agent.register_agent_hook(noting(&ran, "pii", ENDS));
    let reply = agent.resume(CallOptions::new().confirm(&id)).await.unwrap();
    assert_eq!(reply.text(), "done");
    tool.assert_called_with([json!({"amount": 1})]);
}

#[tokio::test]
async fn a_refused_call_tells_error_and_settled_hooks_once_and_no_others() {
    let ran = Ran::default();
    let agent = bare("bot").hook(noting(&ran, "all", EventMask::ALL)).build().unwrap();
    agent.register_agent_hook(noting(&ran, "log", EventKind::PostCall).requires("nobody"));
    assert!(is_misordered(&agent.call("Go").await));
    assert_eq!(ran.take(), ["all Error", "all Settled"]);
}

#[tokio::test]
async fn inherited_hooks_stand_among_those_of_the_sub_agent() {
    let ran = Ran::default();
    let start = EventKind::PreCall;
    let sub = bare("sub")
        .hook(noting(&ran, "own", start))
        .hook(noting(&ran, "late", start).with_priority(900))
        .build()
        .unwrap()
        .to_tool("Helps.");
    let call = ToolUse::new("1", "sub", json!({"task": "Go"}));
    let model = Script::new().calls([call]).says("end");
    let order = HookOrder::new().before("own").where_present();
    let agent = ReActAgent::builder("main")
        .model(model)
        .tool(sub)
        .hook(noting(&ran, "guard", start).with_priority(500).ordered(order).inherited(true))
        .build()
        .unwrap();
    agent.call("Go").await.unwrap();
    let ran = ran.take();
    assert_eq!(ran, ["guard PreCall", "guard PreCall", "own PreCall", "late PreCall"]);
}

struct Odd;

#[agent_hook(parallel, name = "odd", before = [], requires = ["x", "x",], after = "x")]
impl Odd {
    fn start(&self, _: &mut PreCall<'_>) -> Flow {
        Flow::Continue
    }
}

struct NotParallel;

#[agent_hook(parallel = false, before = "x")]
impl NotParallel {
    fn start(&self, _: &mut PreCall<'_>) -> Flow {
        Flow::Continue
    }
}

#[test]
fn odd_attributes_say_what_they_say() {
    assert!(Odd.is_parallel());
    assert_eq!(AgentHook::order(&Odd).to_string(), "requires x, requires x, after x");
    assert!(!NotParallel.is_parallel());
    assert_eq!(AgentHook::order(&NotParallel).to_string(), "before x");
    let all = Odd.before("y").parallel(false);
    assert!(!all.is_parallel());
    assert_eq!(all.order().to_string(), "requires x, requires x, after x, before y");
}

/// Measured, not asserted tightly: what relations cost.
#[tokio::test]
async fn a_thousand_hooks_in_a_chain_run() {
    let count = 1_000;
    let ran = Ran::default();
    let mut builder = bare("bot");
    for index in 0..count {
        let hook = noting(&ran, "hook", EventKind::PreCall).named(format!("{index}"));
        builder = match index {
            0 => builder.hook(hook),
            _ => builder.hook(hook.after(format!("{}", index - 1))),
        };
    }
    let agent = builder.build().unwrap();
    agent.call("Go").await.unwrap();
    assert_eq!(ran.take().len(), count);
}

// ---------------------------------------------------------------- parallel

fn answers_after(wait: Duration) -> impl AgentHook {
    hooks_agent_core::on!(async move |event: &mut PreCall<'_>| {
        tokio::time::sleep(wait).await;
        event.answer(Msg::assistant("bot", "refused"))
    })
    .named("answers")
}

#[tokio::test(start_paused = true)]
async fn a_panic_behind_an_answer_does_not_matter_as_if_one_by_one() {
    for at_once in [false, true] {
        let panics = on(|_: &mut PreCall<'_>| -> Flow { panic!("broken") }).named("panics");
        let agent = bare("bot")
            .hook(answers_after(ms(10)).parallel(at_once))
            .hook(panics.parallel(at_once))
            .build()
            .unwrap();
        let ended = tokio::spawn(async move { agent.call("Go").await.map(|it| it.text()) }).await;
        assert!(matches!(&ended, Ok(Ok(text)) if text == "refused"), "{at_once}: {ended:?}");
    }
}

fn appends_system() -> impl AgentHook {
    on(|event: &mut PreCall<'_>| event.append_system("Be brief.")).named("appends")
}

fn waits(name: &'static str, wait: Duration) -> impl AgentHook {
    hooks_agent_core::on!(async move |_: &mut PreCall<'_>| {
        tokio::time::sleep(wait).await;
        Flow::Continue
    })
    .named(name)
}

#[tokio::test(start_paused = true)]
async fn the_error_of_a_change_names_the_hook_that_changed_the_event() {
    let agent = bare("bot")
        .hook(waits("innocent", ms(10)).parallel(true))
        .hook(appends_system().parallel(true))
        .build()
        .unwrap();
    let error = agent.call("Go").await.unwrap_err().to_string();
    assert!(error.contains("`appends` changed the event"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_change_behind_an_answer_does_not_matter_as_if_one_by_one() {
    let agent = bare("bot")
        .hook(answers_after(ms(10)).parallel(true))
        .hook(appends_system().parallel(true))
        .build()
        .unwrap();
    let ended = agent.call("Go").await.map(|it| it.text()).map_err(|error| error.to_string());
    assert_eq!(ended, Ok("refused".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_change_of_the_system_message_reaches_no_other_parallel_hook() {
    let ran = Ran::default();
    let note = ran.clone();
    let looks = hooks_agent_core::on!(async move |event: &mut PreCall<'_>| {
        tokio::time::sleep(ms(1)).await;
        note.push(format!("{:?}", event.system_message().map(|msg| msg.text())));
        Flow::Continue
    });
    let agent = bare("bot")
        .hook(looks.named("looks").parallel(true))
        .hook(appends_system().parallel(true))
        .build()
        .unwrap();
    assert!(agent.call("Go").await.is_err());
    assert_eq!(ran.take(), ["None"]);
}

/// What a hook decides about a tool call.
#[derive(Clone, Copy, Debug)]
enum Acts {
    Nothing,
    Refuse,
    Answer,
    Ask(u8),
    AskWith(u8),
    Stop,
    StopFirst,
    JumpModel,
    JumpEnd,
    Fail,
}

fn acts() -> impl Strategy<Value = Acts> {
    prop_oneof![
        4 => Just(Acts::Nothing),
        1 => Just(Acts::Refuse),
        1 => Just(Acts::Answer),
        2 => (0..3_u8).prop_map(Acts::Ask),
        2 => (0..3_u8).prop_map(Acts::AskWith),
        1 => Just(Acts::Stop),
        1 => Just(Acts::StopFirst),
        1 => Just(Acts::JumpModel),
        1 => Just(Acts::JumpEnd),
        1 => Just(Acts::Fail),
    ]
}

fn question(number: u8) -> Question {
    let approvers = match number {
        0 => Approvers::roles(["manager"]),
        1 => Approvers::roles(["clerk", "manager"]),
        _ => Approvers::roles(["chief"]).not_self(),
    };
    Question::new(format!("question {number}")).approvers(approvers)
}

fn decides_acting(name: &'static str, wait: Duration, acts: Acts, ran: &Ran) -> impl AgentHook {
    let ran = ran.clone();
    hooks_agent_core::on!(async move |event: &mut PreActing<'_>| {
        tokio::time::sleep(wait).await;
        ran.push(format!("{name} {}", event.tool_use().id));
        Ok(match acts {
            Acts::Nothing => Flow::Continue,
            Acts::Refuse => event.refuse(name),
            Acts::Answer => event.answer(name),
            Acts::Ask(number) => event.ask(format!("why {number}")),
            Acts::AskWith(number) => event.ask_with(question(number)),
            Acts::StopFirst if event.is_answered("") => Flow::Continue,
            Acts::Stop | Acts::StopFirst => event.stop(),
            Acts::JumpModel => event.jump_to_model(),
            Acts::JumpEnd => event.jump_to_end(),
            Acts::Fail => return Err::<Flow, BoxError>(name.into()),
        })
    })
    .named(name)
}

const NAMES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

fn shown(pending: &[PendingCall]) -> Vec<String> {
    pending
        .iter()
        .map(|it| format!("{} {:?} {:?} {:?}", it.id, it.why, it.askers, it.question))
        .collect()
}

/// Calls, then confirms all that waits, until nothing waits; what is seen of it.
async fn ended(agent: &ReActAgent, tool: &Calls) -> Vec<String> {
    let mut seen = Vec::new();
    let mut last = agent.call("Go").await;
    for _ in 0..4 {
        match &last {
            Ok(reply) => {
                seen.push(format!(
                    "{} {:?} {:?}",
                    reply.text(),
                    reply.reason,
                    shown(reply.pending())
                ));
            }
            Err(error) => seen.push(error.to_string()),
        }
        seen.push(format!("{:?}", tool.inputs()));
        let messages = agent.memory().messages();
        seen.push(format!(
            "{:?}",
            messages.iter().map(|msg| msg.content.clone()).collect::<Vec<_>>()
        ));
        let Ok(reply) = &last else { break };
        if reply.pending().is_empty() {
            break;
        }
        let mut options = CallOptions::new();
        for pending in reply.pending() {
            options = options.confirm(&pending.id);
        }
        last = agent.resume(options).await;
    }
    seen
}

fn paused() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

proptest! {
    #[test]
    fn tool_calls_end_as_if_hooks_had_run_one_by_one_also_when_they_are_resumed(
        hooks in vec((acts(), 0..40_u64, prop_oneof![4 => Just(true), 1 => Just(false)]), 0..6),
        calls in 1..3_u64,
        tools_at_once: bool,
    ) {
        let runtime = paused();
        let end = |at_once: bool| {
            let ran = Ran::default();
            let (builder, tool) = paying(&(1..=calls).collect::<Vec<_>>());
            let mut builder = builder.parallel_tools(tools_at_once);
            for ((acts, wait, parallel), name) in hooks.iter().zip(NAMES) {
                let hook = decides_acting(name, ms(*wait), *acts, &ran);
                builder = builder.hook(hook.parallel(*parallel && at_once));
            }
            let agent = builder.build().unwrap();
            runtime.block_on(ended(&agent, &tool))
        };
        // With an error, other tool calls may be further or less far.
        prop_assume!(!(tools_at_once && calls > 1 && hooks.iter().any(|(acts, ..)| matches!(acts, Acts::Fail))));
        prop_assert_eq!(end(true), end(false));
    }

    #[test]
    fn answers_of_the_model_are_asked_about_as_if_one_by_one(
        hooks in vec((0..6_u8, 0..40_u64, any::<bool>()), 0..6),
    ) {
        let runtime = paused();
        let end = |at_once: bool| {
            let (mut builder, tool) = paying(&[1, 2, 3]);
            for ((verdict, wait, parallel), name) in hooks.iter().zip(NAMES) {
                let (verdict, wait) = (*verdict, ms(*wait));
                let hook = hooks_agent_core::on!(async move |event: &mut PostReasoning<'_>| {
                    tokio::time::sleep(wait).await;
                    if event.message().tool_uses().next().is_none() {
                        return Ok(Flow::Continue);
                    }
                    let ask = |ids: &[&str], number| {
                        let asked = ids.iter().map(|id| ((*id).to_owned(), question(number)));
                        event.ask(asked.collect::<Vec<_>>())
                    };
                    Ok::<_, BoxError>(match verdict {
                        0 => ask(&["1", "2"], 0)?,
                        1 => ask(&["2", "3"], 1)?,
                        2 => event.join([("3".to_owned(), "joined")])?,
                        3 => event.stop(),
                        4 => event.jump_to_end(),
                        _ => Flow::Continue,
                    })
                });
                builder = builder.hook(hook.named(name).parallel(*parallel && at_once));
            }
            let agent = builder.build().unwrap();
            runtime.block_on(async {
                let ended = agent.call("Go").await;
                let ended = ended.map(|reply| {
                    (reply.reason, shown(reply.pending()), reply.text())
                }).map_err(|error| error.to_string());
                (format!("{ended:?}"), format!("{:?}", tool.inputs()))
            })
        };
        prop_assert_eq!(end(true), end(false));
    }

    #[test]
    fn rounds_end_as_if_one_by_one(hooks in vec((0..5_u8, 0..40_u64, any::<bool>()), 0..6)) {
        let runtime = paused();
        let end = |at_once: bool| {
            let (mut builder, tool) = paying(&[1, 2]);
            for ((verdict, wait, parallel), name) in hooks.iter().zip(NAMES) {
                let (verdict, wait) = (*verdict, ms(*wait));
                let hook = hooks_agent_core::on!(async move |event: &mut PreReasoning<'_>| {
                    tokio::time::sleep(wait).await;
                    Ok::<_, BoxError>(match verdict {
                        0 => event.answer(Msg::assistant("bot", name)),
                        1 => event.stop(),
                        2 => event.jump_to_end(),
                        3 => event.jump_to_tools(),
                        _ => Flow::Continue,
                    })
                });
                builder = builder.hook(hook.named(name).parallel(*parallel && at_once));
            }
            let agent = builder.build().unwrap();
            runtime.block_on(async {
                let ended = agent.call("Go").await;
                let ended = ended.map(|it| (it.reason, it.text())).map_err(|it| it.to_string());
                let messages = agent.memory().messages();
                (format!("{ended:?}"), format!("{:?}", tool.inputs()), messages.len())
            })
        };
        prop_assert_eq!(end(true), end(false));
    }
}

#[tokio::test]
async fn two_that_ask_different_people_both_stay() {
    let (builder, _) = paying(&[1]);
    let ask = |number| on(move |event: &mut PreActing<'_>| event.ask_with(question(number)));
    let agent = builder
        .hook(ask(1).named("one").parallel(true))
        .hook(ask(2).named("two").parallel(true))
        .build()
        .unwrap();
    let reply = agent.call("Go").await.unwrap();
    let hooks: Vec<_> = reply.pending()[0].askers.iter().map(|it| it.hook.clone()).collect();
    assert_eq!(hooks, [Some("one".to_owned()), Some("two".to_owned())]);
}

/// Notes how hooks ended.
#[derive(Default)]
struct Flows(Records<(String, HookFlow)>);

struct Watch(Arc<Flows>);

impl HookWatcher for Flows {
    fn hook_ran(&self, run: &HookRun<'_>) {
        self.0.push((format!("{} {}", run.hook(), run.event()), run.flow()));
    }
}

impl AgentHook for Watch {
    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    fn inherit(&self) -> bool {
        true
    }

    fn watcher(&self) -> Option<Arc<dyn HookWatcher>> {
        Some(self.0.clone())
    }
}

#[tokio::test]
async fn watchers_are_told_each_run_once_also_of_a_panic() {
    let flows = Arc::new(Flows::default());
    let waits = hooks_agent_core::on!(async |_: &mut PreCall<'_>| {
        std::future::pending::<()>().await;
        Flow::Continue
    });
    let panics = hooks_agent_core::on!(async |_: &mut PreCall<'_>| -> Flow {
        tokio::task::yield_now().await;
        panic!("broken")
    });
    let panics = panics.named("panics");
    let agent = bare("bot")
        .hook(panics.parallel(true))
        .hook(waits.named("waits").parallel(true))
        .hook(Watch(flows.clone()))
        .build()
        .unwrap();
    let call = tokio::spawn(async move { agent.call("Go").await.map(|_| ()) });
    assert!(call.await.unwrap_err().is_panic());
    let mut told = flows.0.take();
    told.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(
        told,
        [
            ("panics PRE_CALL".to_owned(), HookFlow::Panicked),
            // It did not panic: it was given up.
            ("waits PRE_CALL".to_owned(), HookFlow::Cancelled),
        ]
    );
}

#[tokio::test]
async fn a_sync_parallel_hook_sees_the_end_of_a_call_that_is_dropped() {
    let ran = Ran::default();
    let note = ran.clone();
    let settled = on(move |event: &mut Settled<'_>| note.push(event.outcome().to_string()));
    let waits = hooks_agent_core::on!(async |_: &mut PreCall<'_>| {
        std::future::pending::<()>().await;
        Flow::Continue
    });
    let agent = bare("bot")
        .hook(settled.named("settled").parallel(true))
        .hook(waits.named("waits").parallel(true))
        .build()
        .unwrap();
    {
        let mut call = Box::pin(agent.call("Go"));
        assert!(futures::poll!(&mut call).is_pending());
    }
    assert_eq!(ran.take().len(), 1);
}

#[tokio::test]
async fn in_a_nested_call_the_same_hooks_run_as_one_by_one_each_once() {
    let mut seen = Vec::new();
    for at_once in [false, true] {
        let ran = Ran::default();
        let of = Arc::new(OnceLock::<Weak<ReActAgent>>::new());
        let (agent, note) = (of.clone(), ran.clone());
        let nests = hooks_agent_core::on!(async move |event: &mut PreCall<'_>| {
            let agent = agent.get().and_then(Weak::upgrade).expect("it is there");
            note.push("nests".to_owned());
            if event.messages().iter().any(|msg| msg.text() == "outer") {
                let options = CallOptions::new().thread("inner");
                let ended = agent.call_with(options, "inner").await;
                note.push(format!("{:?}", ended.map(|it| it.text()).ok()));
            }
            Flow::Continue
        });
        let start = EventKind::PreCall;
        let agent = bare("bot")
            .hook(noting(&ran, "always 1", start).in_nested_calls(true).parallel(at_once))
            .hook(noting(&ran, "always 2", start).in_nested_calls(true).parallel(at_once))
            .hook(noting(&ran, "a", start).parallel(at_once))
            .hook(nests.named("nests").parallel(at_once))
            .hook(noting(&ran, "b", start).parallel(at_once))
            .build()
            .unwrap();
        let agent = Arc::new(agent);
        of.set(Arc::downgrade(&agent)).unwrap();
        let ended = tokio::time::timeout(ms(5000), agent.call("outer")).await;
        assert!(matches!(&ended, Ok(Ok(_))), "{ended:?}");
        let mut ran = ran.take();
        ran.sort_unstable();
        seen.push(ran);
    }
    assert_eq!(seen[1], seen[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn overlapping_calls_and_sub_agents_run_each_hook_once_an_event() {
    let counts: [Arc<AtomicUsize>; 4] = Default::default();
    let hook = |index: usize| {
        let count = counts[index].clone();
        hooks_agent_core::on!(async move |event: &mut PreCall<'_>| {
            tokio::task::yield_now().await;
            count.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            if event.agent().name() == "sub" && index == 1 {
                event.answer(Msg::assistant("sub", "refused"))
            } else {
                Flow::Continue
            }
        })
        .named(format!("{index}"))
        .inherited(true)
        .parallel(true)
    };
    let sub = bare("sub").build().unwrap().to_tool("Helps.");
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => result.output.as_str().into(),
            None => vec![
                hooks_agent_core::message::ContentBlock::ToolUse(ToolUse::new(
                    "1",
                    "sub",
                    json!({"task": "x"}),
                )),
                hooks_agent_core::message::ContentBlock::ToolUse(ToolUse::new(
                    "2",
                    "sub",
                    json!({"task": "y"}),
                )),
            ]
            .into(),
        }
    });
    let agent = ReActAgent::builder("main")
        .model(model)
        .tool(sub)
        .parallel_tools(true)
        .hook(hook(0))
        .hook(hook(1))
        .hook(hook(2))
        .hook(hook(3))
        .build()
        .unwrap();
    let agent = Arc::new(agent);
    let calls: Vec<_> = (0..50)
        .map(|number| {
            let agent = agent.clone();
            tokio::spawn(async move {
                let options = CallOptions::new().thread(format!("{number}"));
                agent.call_with(options, "Go").await.unwrap().text()
            })
        })
        .collect();
    for call in calls {
        assert!(call.await.unwrap().contains("refused"));
    }
    let counts = counts.map(|count| count.load(Ordering::Relaxed));
    assert_eq!(counts[..2], [150, 150]);
}

#[tokio::test]
async fn a_hook_in_shadow_between_two_parallel_ones_is_beside_the_call() {
    let ran = Ran::default();
    let start = EventKind::PreCall;
    let deny = on(|event: &mut PreCall<'_>| event.answer(Msg::assistant("bot", "no")));
    let deny = deny.named("deny").parallel(true).in_shadow();
    let counts = deny.clone();
    let agent = bare("bot")
        .hook(noting(&ran, "a", start).parallel(true))
        .hook(deny)
        .hook(noting(&ran, "b", start).parallel(true))
        .build()
        .unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "done");
    counts.caught_up().await;
    assert_eq!(counts.counts().runs, 1);
    assert_eq!(ran.take(), ["a PreCall", "b PreCall"]);
}

#[tokio::test]
async fn a_hook_of_a_method_parts_its_neighbours() {
    let (builder, tool) = paying(&[1]);
    let note = |name: &'static str| {
        hooks_agent_core::on!(async move |event: &mut PreActing<'_>| {
            tokio::task::yield_now().await;
            if event.tool_use().input["amount"] == 2 && name == "b" {
                event.refuse("two")
            } else {
                Flow::Continue
            }
        })
        .named(name)
    };
    let agent = builder
        .hook(note("a").parallel(true))
        .hook(note("b").with_priority(300).parallel(true))
        .build()
        .unwrap();
    agent.register_instance_hook(
        ReActAgent::PRE_ACTING,
        HookOptions::named("doubles").priority(200),
        hook!(ReActAgent::PRE_ACTING, |_, args| {
            args.input.call_mut().input = json!({"amount": 2});
        }),
    );
    agent.call("Go").await.unwrap();
    tool.assert_called_with([]);
}

#[tokio::test(start_paused = true)]
async fn a_journal_replays_calls_with_parallel_hooks_as_one_by_one() {
    const ROUNDS: &[&[&str]] = &[&["left", "right"], &["right"]];
    let end = async |at_once: bool| {
        let mut seen = Vec::new();
        let (journal, id) = (MemoryJournal::new(), RunId::random());
        for kept in [0, 6, 5, 4, 3, 2, 1] {
            if kept > 0 {
                journal.cut(kept);
            }
            let (world, ran) = (World::default(), Ran::default());
            let agent = ReActAgent::builder("above").model(world.model("above", ROUNDS));
            let mut agent = agent.tool(world.tool("left")).tool(world.tool("right"));
            for (index, name) in ["a", "b", "c"].into_iter().enumerate() {
                let ran = ran.clone();
                let hook = Once(name, ms(10 + 10 * index as u64), index == 1, ran);
                agent = agent.hook(hook.named(name).parallel(at_once));
            }
            let ended = run(&agent.build().unwrap(), &journal, id).await;
            let mut ran = ran.take();
            ran.sort_unstable();
            seen.push((format!("{ended:?}"), world.effects(), ran));
        }
        (seen, journal.keys())
    };
    assert_eq!(end(true).await, end(false).await);
}

/// A hook that does not see what is replayed.
struct Once(&'static str, Duration, bool, Ran);

impl AgentHook for Once {
    fn events(&self) -> EventMask {
        EventMask::of(&[EventKind::PreActing, EventKind::PostReasoning, EventKind::PreReasoning])
    }

    fn once(&self) -> bool {
        true
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        tokio::time::sleep(self.1).await;
        self.3.push(format!("{} {:?}", self.0, event.kind()));
        if let (HookEvent::PreActing(event), true) = (&*event, self.2)
            && event.tool_use().name == "left"
        {
            return Ok(event.refuse("not left"));
        }
        Ok(Flow::Continue)
    }
}

#[tokio::test]
async fn a_parallel_hook_of_all_agents_stands_behind_those_of_the_agent() {
    let ran = Ran::default();
    let note = ran.clone();
    let class = hooks_agent_core::on!(async move |event: &mut PreCall<'_>| {
        if event.agent().name() == "attacked class" {
            note.push("class".to_owned());
            return event.answer(Msg::assistant("bot", "class"));
        }
        Flow::Continue
    });
    ReActAgent::register_class_agent_hook(class.named("attacked class").parallel(true));
    let start = EventKind::PreCall;
    let agent = bare("attacked class")
        .hook(noting(&ran, "a", start).parallel(true))
        .hook(noting(&ran, "b", start).parallel(true))
        .build()
        .unwrap();
    let reply = agent.call("Go").await.unwrap().text();
    ReActAgent::remove_class_agent_hook("attacked class").unwrap();
    assert_eq!((reply.as_str(), ran.take().len()), ("class", 3));
}

#[tokio::test]
async fn each_of_many_parallel_hooks_runs_once_in_each_call() {
    let ran = Ran::default();
    let mut builder = bare("bot");
    for index in 0..500 {
        let note = ran.clone();
        let waits = hooks_agent_core::on!(async move |_: &mut PreCall<'_>| {
            tokio::task::yield_now().await;
            note.push(index.to_string());
            Flow::Continue
        });
        builder = builder.hook(waits.named(format!("{index}")).parallel(true));
    }
    let agent = builder.build().unwrap();
    let all: Vec<_> = (0..500).map(|index| index.to_string()).collect();
    for _ in 0..2 {
        agent.call("Go").await.unwrap();
        assert_eq!(ran.take(), all);
    }
}

/// Passes its calls on to another agent, in its own call.
#[derive(Hookable)]
struct Router {
    state: AgentState,
    clerk: ReActAgent,
    hooks: Hooks,
}

#[hookable]
impl Agent for Router {
    fn state(&self) -> &AgentState {
        &self.state
    }

    async fn reply(&self, cx: CallContext, messages: Messages) -> Result<Msg, AgentError> {
        self.clerk.reply(cx, messages).await
    }
}

#[tokio::test(start_paused = true)]
async fn call_hooks_of_any_agent_run_at_once_also_where_two_agents_share_a_call() {
    let clerk = bare("clerk")
        .hook(waits("c", ms(100)).parallel(true))
        .hook(waits("d", ms(100)).parallel(true))
        .build()
        .unwrap();
    let router = Router { state: AgentState::new("router"), clerk, hooks: Hooks::new() };
    router.register_call_hook(waits("a", ms(100)).parallel(true));
    router.register_call_hook(waits("b", ms(100)).parallel(true));
    let start = tokio::time::Instant::now();
    assert_eq!(router.call("Go").await.unwrap().text(), "done");
    assert_eq!(start.elapsed(), ms(200));
    router.register_call_hook(waits("early", ms(0)).with_priority(900).before("a"));
    router.call("Go").await.unwrap();
    router.remove_call_hook("a").unwrap();
    assert!(is_misordered(&router.call("Go").await));
}

#[tokio::test(start_paused = true)]
async fn inherited_hooks_run_at_once_in_sub_agents() {
    let sub = bare("sub").hook(waits("own", ms(100)).parallel(true)).build().unwrap();
    let model = Script::new().calls([ToolUse::new("1", "sub", json!({"task": "Go"}))]).says("end");
    let agent = ReActAgent::builder("main")
        .model(model)
        .tool(sub.to_tool("Helps."))
        .hook(waits("a", ms(100)).inherited(true).parallel(true))
        .hook(waits("b", ms(100)).inherited(true).parallel(true))
        .build()
        .unwrap();
    let start = tokio::time::Instant::now();
    agent.call("Go").await.unwrap();
    assert_eq!(start.elapsed(), ms(200));
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_cancels_all_that_run_at_once_and_tells_each() {
    let flows = Arc::new(Flows::default());
    let wait = Duration::from_hours(1);
    let agent = bare("bot")
        .hook(waits("a", wait).parallel(true))
        .hook(waits("b", wait).parallel(true))
        .hook(Watch(flows.clone()))
        .build()
        .unwrap();
    let agent = Arc::new(agent);
    let interrupt = Interrupt::new();
    let options = CallOptions::new().interrupt(interrupt.clone());
    let call = {
        let agent = agent.clone();
        tokio::spawn(async move { agent.call_with(options, "Go").await.map(|it| it.reason) })
    };
    tokio::time::sleep(ms(10)).await;
    interrupt.interrupt();
    let ended = call.await.unwrap();
    let told = flows.0.take();
    let told: Vec<_> = told.iter().map(|(hook, flow)| (hook.as_str(), *flow)).collect();
    assert_eq!(
        told,
        [("a PRE_CALL", HookFlow::Cancelled), ("b PRE_CALL", HookFlow::Cancelled)],
        "{ended:?}"
    );
}
