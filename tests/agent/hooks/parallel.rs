//! Hooks that only decide and run at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hooks_agent_core::error::BuildError;
use hooks_agent_core::hook::{AgentHookExt, AroundMask, HookFlow, HookRun, HookWatcher, Placed};
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::{Calls, Script};
use hooks_core::BoxError;
use hooks_fixtures::Records;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use tokio::sync::{Barrier, Notify};
use tokio::time::Instant;

type Ran = Arc<Records<String>>;

fn bare() -> ReActAgentBuilder {
    ReActAgent::builder("bot").model(Script::new().says("done").says("done").says("done"))
}

/// An agent that calls the tool `pay` once for each of these amounts, at once.
fn paying(amounts: &[u64]) -> (ReActAgentBuilder, Calls) {
    let calls = amounts
        .iter()
        .map(|amount| ToolUse::new(amount.to_string(), "pay", json!({"amount": amount})));
    let tool = Calls::new("pay").answers("paid");
    let model = Script::new().calls(calls).says("done");
    (ReActAgent::builder("bot").model(model).tool(tool.clone()).parallel_tools(true), tool)
}

/// What a hook decides of the start of a call.
#[derive(Clone, Copy, Debug)]
enum Verdict {
    Nothing,
    Answer,
    Fail,
}

/// Decides after some time.
fn after(
    name: &'static str,
    wait: Duration,
    verdict: Verdict,
    ran: &Ran,
) -> impl AgentHook + use<> {
    let ran = ran.clone();
    hooks_agent_core::on!(async move |event: &mut PreCall<'_>| {
        ran.push(format!("{name} begins"));
        tokio::time::sleep(wait).await;
        ran.push(format!("{name} ends"));
        match verdict {
            Verdict::Nothing => Ok(Flow::Continue),
            Verdict::Answer => Ok(event.answer(Msg::assistant("bot", name))),
            Verdict::Fail => Err::<Flow, BoxError>(name.into()),
        }
    })
    .named(name)
}

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

#[tokio::test(start_paused = true)]
async fn hooks_next_to_each_other_wait_together() {
    let ran = Ran::default();
    let hook = |name, wait| after(name, ms(wait), Verdict::Nothing, &ran).parallel(true);
    let agent =
        bare().hook(hook("a", 300)).hook(hook("b", 200)).hook(hook("c", 100)).build().unwrap();
    let start = Instant::now();
    assert_eq!(agent.call("Go").await.unwrap().text(), "done");
    assert_eq!(start.elapsed(), ms(300));
    assert_eq!(ran.take(), ["a begins", "b begins", "c begins", "c ends", "b ends", "a ends"]);
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_runs_in_its_turn_parts_its_neighbours() {
    let ran = Ran::default();
    let hook = |name| after(name, ms(100), Verdict::Nothing, &ran);
    let agent = bare()
        .hook(hook("a").parallel(true))
        .hook(hook("b").parallel(true))
        .hook(hook("alone"))
        .hook(hook("c").parallel(true))
        .hook(hook("always").parallel(true).in_nested_calls(true))
        .build()
        .unwrap();
    let start = Instant::now();
    agent.call("Go").await.unwrap();
    assert_eq!(start.elapsed(), ms(400));
    assert_eq!(
        ran.take(),
        [
            "a begins",
            "b begins",
            "a ends",
            "b ends",
            "alone begins",
            "alone ends",
            "c begins",
            "c ends",
            "always begins",
            "always ends",
        ]
    );
}

#[tokio::test]
async fn the_strictest_decision_holds_whichever_comes_first() {
    let gate = Arc::new(Notify::new());
    let opens = gate.clone();
    let ask = on(|event: &mut PreActing<'_>| event.ask("sure?"));
    let late_ask = {
        hooks_agent_core::on!(async move |event: &mut PreActing<'_>| {
            gate.notified().await;
            event.ask("sure?")
        })
    };
    let refuse = on(move |event: &mut PreActing<'_>| {
        opens.notify_one();
        event.refuse("never")
    });
    let (builder, tool) = paying(&[1]);
    let agent = builder
        .hook(ask.named("ask").parallel(true))
        .hook(late_ask.named("late").parallel(true))
        .hook(refuse.named("refuse").parallel(true))
        .build()
        .unwrap();
    let reply = agent.call("Go").await.unwrap();
    assert_eq!(reply.text(), "done");
    tool.assert_called_with([]);
    assert!(format!("{:?}", agent.memory().messages()).contains("never"));
}

/// Notes how hooks ended.
#[derive(Default)]
struct Flows(Records<(String, HookFlow)>);

struct Watch(Arc<Flows>);

impl HookWatcher for Flows {
    fn hook_ran(&self, run: &HookRun<'_>) {
        if ["PRE_CALL", "PRE_ACTING"].contains(&run.event()) {
            self.0.push((run.hook().to_owned(), run.flow()));
        }
    }
}

impl AgentHook for Watch {
    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    fn watcher(&self) -> Option<Arc<dyn HookWatcher>> {
        Some(self.0.clone())
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_ends_the_event_cancels_those_behind_it_and_they_are_told() {
    let (ran, flows) = (Ran::default(), Arc::new(Flows::default()));
    let hook = |name, wait, verdict| after(name, ms(wait), verdict, &ran).parallel(true);
    let agent = bare()
        .hook(hook("a", 200, Verdict::Nothing))
        .hook(hook("b", 100, Verdict::Answer))
        .hook(hook("c", 50, Verdict::Nothing))
        .hook(hook("d", 900, Verdict::Answer))
        .hook(Watch(flows.clone()))
        .build()
        .unwrap();
    let start = Instant::now();
    let reply = agent.call("Go").await.unwrap();
    assert_eq!((reply.text().as_str(), reply.reason), ("b", Some(GenerateReason::HookAnswered)));
    assert_eq!(start.elapsed(), ms(200));
    let of = |name: &str, flow| (name.to_owned(), flow);
    assert_eq!(
        flows.0.take(),
        [
            of("c", HookFlow::Continue),
            of("b", HookFlow::Answer),
            of("d", HookFlow::Cancelled),
            of("a", HookFlow::Continue),
        ]
    );
    assert!(!ran.take().contains(&"d ends".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn of_two_that_end_the_event_the_first_in_order_holds() {
    for (first, second, text) in [
        (Verdict::Answer, Verdict::Fail, Ok("a")),
        (Verdict::Fail, Verdict::Answer, Err("a")),
        (Verdict::Nothing, Verdict::Fail, Err("b")),
    ] {
        let ran = Ran::default();
        let agent = bare()
            .hook(after("a", ms(500), first, &ran).parallel(true))
            .hook(after("b", ms(1), second, &ran).parallel(true))
            .build()
            .unwrap();
        match (agent.call("Go").await, text) {
            (Ok(reply), Ok(text)) => assert_eq!(reply.text(), text),
            (Err(error), Err(name)) => {
                assert!(error.to_string().contains(&format!("`{name}` failed")), "{error}");
            }
            (ended, text) => panic!("{ended:?} is not {text:?}"),
        }
    }
}

fn changed(ended: Result<Msg, AgentError>) {
    let error = ended.expect_err("a change").to_string();
    assert!(error.contains("changed the event, and runs in parallel"), "{error}");
}

#[tokio::test]
async fn a_change_is_an_error_and_reaches_nobody() {
    let look = || on(|_: &mut PreCall<'_>| Flow::Continue).named("look").parallel(true);
    let both = |hook: Placed<_>| async move {
        let agent = bare().hook(look()).hook(hook).build().unwrap();
        changed(agent.call("Go").await);
        agent
    };
    let agent = both(
        on(|event: &mut PreCall<'_>| event.messages_mut().push(Msg::user("more"))).parallel(true),
    )
    .await;
    assert!(!format!("{:?}", agent.memory().messages()).contains("more"));
    let alone = on(|event: &mut PreCall<'_>| event.append_system("Be brief.")).parallel(true);
    changed(bare().hook(alone).build().unwrap().call("Go").await);
    let reply =
        on(|event: &mut PostCall<'_>| event.final_message_mut().push_text("!")).parallel(true);
    changed(bare().hook(reply).build().unwrap().call("Go").await);
    let tools = on(|event: &mut PreReasoning<'_>| event.set_tools(Vec::new())).parallel(true);
    let (builder, _) = paying(&[1]);
    changed(builder.hook(tools).build().unwrap().call("Go").await);
    let hides =
        on(|event: &mut PreActing<'_>| event.tool_use_mut().hide("key", "secret")).parallel(true);
    let (builder, tool) = paying(&[1]);
    changed(builder.hook(hides).build().unwrap().call("Go").await);
    tool.assert_called_with([]);
    let result = on(|event: &mut PostActing<'_>| event.tool_result_mut().output = "other".into())
        .parallel(true);
    let (builder, _) = paying(&[1]);
    changed(builder.hook(result).build().unwrap().call("Go").await);
}

#[tokio::test]
async fn tool_calls_at_once_have_their_own_decisions_also_with_one_id() {
    let all = Arc::new(Barrier::new(6));
    let guard = |least: u64, name: &'static str| {
        let all = all.clone();
        hooks_agent_core::on!(async move |event: &mut PreActing<'_>| {
            let amount = event.tool_use().input["amount"].as_u64().unwrap_or(u64::MAX);
            all.wait().await;
            if amount >= least { event.refuse(format!("{name} {amount}")) } else { Flow::Continue }
        })
        .named(name)
        .parallel(true)
    };
    let uses = [5, 50, 500].map(|amount| ToolUse::new("same", "pay", json!({"amount": amount})));
    let tool = Calls::new("pay").answers("paid");
    let model = Script::new().calls(uses).says("done");
    let builder = ReActAgent::builder("bot").model(model).tool(tool.clone()).parallel_tools(true);
    let agent = builder.hook(guard(100, "a")).hook(guard(10, "b")).build().unwrap();
    let _ended = agent.call("Go").await;
    tool.assert_called_with([json!({"amount": 5})]);
}

#[tokio::test]
async fn a_call_runs_each_hook_once_at_each_event() {
    let counts: [Arc<AtomicUsize>; 3] = Default::default();
    let (builder, tool) = paying(&[1, 2, 3]);
    let mut builder = builder;
    for (index, count) in counts.iter().enumerate() {
        let count = count.clone();
        let hook = hooks_agent_core::on!(async move |_: &mut PreActing<'_>| {
            tokio::task::yield_now().await;
            count.fetch_add(1, Ordering::Relaxed);
            Flow::Continue
        });
        builder = builder.hook(hook.named(format!("{index}")).parallel(true));
    }
    builder.build().unwrap().call("Go").await.unwrap();
    assert_eq!(tool.inputs().len(), 3);
    assert_eq!(counts.map(|count| count.load(Ordering::Relaxed)), [3; 3]);
}

#[tokio::test]
async fn a_call_that_is_dropped_drops_all_of_them() {
    let (ran, flows) = (Ran::default(), Arc::new(Flows::default()));
    let hook = |name| after(name, Duration::from_hours(1), Verdict::Nothing, &ran).parallel(true);
    let agent = bare().hook(hook("a")).hook(hook("b")).hook(Watch(flows.clone())).build().unwrap();
    {
        let mut call = Box::pin(agent.call("Go"));
        assert!(futures::poll!(&mut call).is_pending());
    }
    assert_eq!(ran.take(), ["a begins", "b begins"]);
    let ended: Vec<_> = flows.0.take().into_iter().map(|(_, flow)| flow).collect();
    assert_eq!(ended, [HookFlow::Cancelled; 2]);
}

#[tokio::test]
async fn a_panic_unwinds_as_of_a_hook_in_its_turn() {
    let ran = Ran::default();
    let panics =
        on(|_: &mut PreCall<'_>| -> Flow { panic!("broken") }).named("panics").parallel(true);
    let other = after("a", ms(0), Verdict::Nothing, &ran).parallel(true);
    let agent = Arc::new(bare().hook(other).hook(panics).build().unwrap());
    let call = tokio::spawn(async move { agent.call("Go").await.map(|_| ()) });
    assert!(call.await.unwrap_err().is_panic());
}

#[tokio::test]
async fn hooks_that_are_registered_while_a_call_runs_change_nothing_about_its_event() {
    let ran = Ran::default();
    let of = Arc::new(std::sync::OnceLock::<std::sync::Weak<ReActAgent>>::new());
    let (agent, note) = (of.clone(), ran.clone());
    let adds = hooks_agent_core::on!(async move |_: &mut PreCall<'_>| {
        let agent = agent.get().and_then(std::sync::Weak::upgrade).expect("it is there");
        let _ = agent.remove_agent_hook("b");
        agent.register_agent_hook(after("c", ms(0), Verdict::Nothing, &note).parallel(true));
        Flow::Continue
    });
    let b = after("b", ms(0), Verdict::Answer, &ran).parallel(true);
    let agent = Arc::new(bare().hook(adds.named("adds").parallel(true)).hook(b).build().unwrap());
    of.set(Arc::downgrade(&agent)).unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "b");
    assert_eq!(ran.take(), ["b begins", "b ends"]);
}

struct Counts;

impl AgentHook for Counts {
    fn counter(&self) -> Option<String> {
        Some("counts".to_owned())
    }
}

#[test]
fn a_hook_that_runs_around_calls_or_counts_is_not_parallel() {
    struct Around;
    impl AgentHook for Around {
        fn around(&self) -> AroundMask {
            AroundMask::TOOL_CALL
        }
    }
    let error = bare().hook(Around.parallel(true)).build().expect_err("no agent");
    assert!(matches!(&error, BuildError::NotParallel { hook, .. } if hook == "Around"), "{error}");
    let counts = Counts.parallel(true);
    let error = bare().hook(counts).build().expect_err("no agent");
    assert!(
        matches!(&error, BuildError::NotParallel { why, .. } if why.contains("it counts")),
        "{error}"
    );
    let agent = bare().build().unwrap();
    agent.register_agent_hook(Around.parallel(true));
    assert!(agent.hook_plan().hooks().iter().any(|hook| hook.name() == "Around"));
}

struct Attributed;

#[agent_hook(parallel)]
impl Attributed {
    fn refuse(&self, event: &mut PreActing<'_>) -> Flow {
        event.refuse("never")
    }
}

#[tokio::test]
async fn the_attribute_says_it_too() {
    assert!(Attributed.is_parallel());
    let (builder, tool) = paying(&[1]);
    builder.hook(Attributed).build().unwrap().call("Go").await.unwrap();
    tool.assert_called_with([]);
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop_oneof![6 => Just(Verdict::Nothing), 1 => Just(Verdict::Answer), 1 => Just(Verdict::Fail)]
}

proptest! {
    #[test]
    fn a_call_ends_as_if_its_hooks_had_run_one_by_one(hooks in vec((verdict(), 0..40_u64, any::<bool>()), 0..7)) {
        const NAMES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let end = |at_once: bool| {
            let ran = Ran::default();
            let mut builder = bare();
            for ((verdict, wait, parallel), name) in hooks.iter().zip(NAMES) {
                builder = builder.hook(after(name, ms(*wait), *verdict, &ran).parallel(*parallel && at_once));
            }
            let agent = builder.build().unwrap();
            let ended = runtime.block_on(agent.call("Go"));
            let messages = format!("{:?}", agent.memory().messages().iter().map(Msg::text).collect::<Vec<_>>());
            (ended.map(|reply| reply.text()).map_err(|error| error.to_string()), messages)
        };
        prop_assert_eq!(end(true), end(false));
    }
}
