//! Tests of `Timing`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::executor::block_on;
use hooks_agent_builtin::observe::{CallTiming, Timing};
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_fixtures::Reports;
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tracing::Level;

/// A clock that stands until it is moved.
#[derive(Clone, Debug, Default)]
struct Clock(Arc<AtomicU64>);

impl Clock {
    fn pass(&self, millis: u64) {
        self.0.fetch_add(millis, Ordering::Relaxed);
    }

    fn timing(&self) -> Timing {
        let clock = self.clone();
        Timing::new().clock(move || ms(clock.0.load(Ordering::Relaxed)))
    }
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The tool `wait`, which takes this time of the clock.
fn wait_tool(clock: &Clock, millis: u64) -> FunctionTool {
    let clock = clock.clone();
    FunctionTool::new("wait", "Waits.", move |_: Value| {
        clock.pass(millis);
        async { "done" }
    })
}

fn wait(id: &str) -> ToolUse {
    ToolUse::new(id, "wait", json!({}))
}

/// A model that takes 5 ms to its first chunk and calls these tools, if there are no results yet.
fn model(clock: &Clock, calls: Vec<ToolUse>) -> ScriptedModel {
    let clock = clock.clone();
    ScriptedModel::new("slow", move |request| -> ScriptedAnswer {
        clock.pass(5);
        let has_results = request.messages.iter().any(|msg| msg.role == Role::Tool);
        if has_results || calls.is_empty() {
            return "One two".into();
        }
        calls.iter().cloned().map(ContentBlock::ToolUse).collect::<Vec<_>>().into()
    })
}

/// Passes 10 ms after each chunk.
fn slow_chunks(clock: &Clock) -> impl AgentHook {
    let clock = clock.clone();
    on(move |_: &ReasoningChunk<'_>| clock.pass(10)).named("slow").with_priority(900)
}

/// What a closure received.
#[derive(Clone, Debug, Default)]
struct Seen(Arc<Mutex<Vec<CallTiming>>>);

impl Seen {
    fn by(&self, timing: Timing) -> Timing {
        let seen = self.0.clone();
        timing.on_settled(move |timing| seen.lock().unwrap().push(timing.clone()))
    }

    fn take(&self) -> Vec<CallTiming> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[test]
fn each_step_of_a_call_is_measured() {
    let clock = Clock::default();
    clock.pass(1000);
    let agent = ReActAgent::builder("bot")
        .model(model(&clock, vec![wait("1"), wait("2")]))
        .tool(wait_tool(&clock, 100))
        .hook(slow_chunks(&clock))
        .hook(clock.timing())
        .build()
        .unwrap();
    let timing = Timing::of(&block_on(agent.call("go")).unwrap()).unwrap();
    let [first, last] = &*timing.rounds else { panic!("{timing:?}") };
    let asked = first.model.as_ref().unwrap();
    assert_eq!((&*asked.model, asked.started), ("slow", ms(0)));
    // Two chunks, one for each tool call.
    assert_eq!((asked.first_chunk, asked.total), (Some(ms(5)), Some(ms(25))));
    let tools: Vec<_> = first.tools.iter().map(|it| (&*it.id, it.started, it.total)).collect();
    assert_eq!(tools, [("1", ms(25), Some(ms(100))), ("2", ms(125), Some(ms(100)))]);
    assert_eq!((first.started, first.total), (ms(0), ms(225)));
    assert_eq!((last.started, last.total), (ms(225), ms(25)));
    assert_eq!((timing.total, timing.omitted, timing.tools().count()), (ms(250), 0, 2));
}

#[tokio::test]
async fn tools_at_once_overlap_each_with_its_own_start() {
    let (clock, meeting) = (Clock::default(), Arc::new(Barrier::new(3)));
    let passing = clock.clone();
    let meet = FunctionTool::new("wait", "Waits for the others.", move |_: Value| {
        let (clock, meeting) = (passing.clone(), meeting.clone());
        clock.pass(1);
        async move {
            if meeting.wait().await.is_leader() {
                clock.pass(100);
            }
            meeting.wait().await;
            "done"
        }
    });
    let calls = vec![wait("1"), wait("2"), wait("3")];
    let builder = ReActAgent::builder("bot").model(model(&clock, calls)).tool(meet);
    let agent = builder.parallel_tools(true).hook(clock.timing()).build().unwrap();
    let timing = Timing::of(&agent.call("go").await.unwrap()).unwrap();
    let round = &timing.rounds[0];
    let mut tools: Vec<_> = round.tools.iter().map(|it| (it.started, it.total.unwrap())).collect();
    tools.sort();
    assert_eq!(tools, [(ms(5), ms(103)), (ms(6), ms(102)), (ms(7), ms(101))]);
    assert_eq!(round.total, ms(108));
}

#[test]
fn a_call_that_fails_is_measured_to_its_failure() {
    let (clock, seen) = (Clock::default(), Seen::default());
    let passing = clock.clone();
    let failing = ScriptedModel::new("busy", move |_| {
        passing.pass(7);
        ModelError::status("busy", 503)
    });
    let builder = ReActAgent::builder("bot").model(failing).hook(seen.by(clock.timing()));
    block_on(builder.build().unwrap().call("go")).unwrap_err();
    let [timing] = &*seen.take() else { panic!("one call") };
    let model = timing.rounds[0].model.as_ref().unwrap();
    assert_eq!((model.first_chunk, model.total, timing.total), (None, Some(ms(7)), ms(7)));
}

#[tokio::test]
async fn a_cancelled_or_interrupted_call_is_measured_and_what_ran_has_no_total() {
    for is_interrupted in [false, true] {
        let (clock, seen) = (Clock::default(), Seen::default());
        let hang = FunctionTool::new("wait", "Hangs.", async |_: Value| -> String {
            std::future::pending().await
        });
        let builder = ReActAgent::builder("bot").model(model(&clock, vec![wait("1")])).tool(hang);
        let agent = builder.hook(seen.by(clock.timing())).build().unwrap();
        let interrupt = Interrupt::new();
        let options = CallOptions::new().interrupt(interrupt.clone());
        let mut call = Box::pin(agent.call_with(options, "go"));
        assert!(futures::poll!(&mut call).is_pending());
        clock.pass(50);
        if is_interrupted {
            interrupt.interrupt();
            assert_eq!(Timing::of(&call.await.unwrap()), None);
        } else {
            drop(call);
        }
        let [timing] = &*seen.take() else { panic!("one call") };
        assert_eq!(timing.total, ms(55));
        assert_eq!((timing.tools().count(), timing.rounds[0].tools[0].total), (1, None));
    }
}

#[test]
fn a_tool_call_that_a_hook_refused_has_no_time() {
    let clock = Clock::default();
    let guard = on(|event: &mut PreActing<'_>| event.refuse("never"));
    let builder = ReActAgent::builder("bot").model(model(&clock, vec![wait("1")]));
    let builder = builder.tool(wait_tool(&clock, 100)).hook(guard).hook(clock.timing());
    let timing = Timing::of(&block_on(builder.build().unwrap().call("go")).unwrap()).unwrap();
    assert_eq!((timing.rounds.len(), timing.tools().count()), (2, 0));
}

#[test]
fn a_round_that_a_hook_answers_has_no_model() {
    let clock = Clock::default();
    let cached = on(|event: &mut PreReasoning<'_>| event.answer(Msg::assistant("bot", "cached")));
    let builder = ReActAgent::builder("bot").model(model(&clock, vec![])).hook(cached);
    let agent = builder.hook(clock.timing()).build().unwrap();
    let timing = Timing::of(&block_on(agent.call("go")).unwrap()).unwrap();
    assert_eq!((timing.rounds.len(), &timing.rounds[0].model), (1, &None));
}

#[test]
fn a_summary_is_measured() {
    let clock = Clock::default();
    let builder = ReActAgent::builder("bot").model(model(&clock, vec![wait("1")]));
    let builder = builder.tool(wait_tool(&clock, 100)).max_iters(1).hook(clock.timing());
    let timing = Timing::of(&block_on(builder.build().unwrap().call("go")).unwrap()).unwrap();
    let summary = timing.summary.unwrap();
    assert_eq!((summary.started, summary.total), (ms(105), Some(ms(5))));
}

#[test]
fn a_clock_that_goes_back_gives_no_time_and_no_panic() {
    let times = Mutex::new(vec![3, 5, 0, 9, 1, 7, 2, 8]);
    let clock = move || ms(times.lock().unwrap().pop().unwrap_or(0));
    let agent = ReActAgent::builder("bot").model(Script::new().says("done"));
    let agent = agent.hook(Timing::new().clock(clock)).build().unwrap();
    let timing = Timing::of(&block_on(agent.call("go")).unwrap()).unwrap();
    assert!(timing.total <= ms(9));
}

#[test]
fn a_closure_that_panics_is_reported_and_the_call_goes_on() {
    let (reports, records) = Reports::up_to(Level::WARN);
    let timing = Timing::new().clock(|| panic!("no clock")).on_settled(|_| panic!("a bug"));
    let agent = ReActAgent::builder("bot").model(Script::new().says("done"));
    let agent = agent.hook(timing).build().unwrap();
    let reply = tracing::subscriber::with_default(reports, || block_on(agent.call("go"))).unwrap();
    assert_eq!((reply.text(), Timing::of(&reply)), ("done".to_owned(), None));
    assert!(records.take().iter().any(|line| line.contains("a closure of `Timing` panicked")));
}

#[test]
fn two_clocks_side_by_side_and_a_sub_agent_have_their_own_times() {
    let (outer, inner, seen) = (Clock::default(), Clock::default(), Seen::default());
    let helper = ReActAgent::builder("helper").model(model(&inner, vec![])).build().unwrap();
    let task = ToolUse::new("1", "helper", json!({ "task": "help" }));
    let agent = ReActAgent::builder("bot")
        .model(model(&outer, vec![task]))
        .tool(helper.to_tool("Helps."))
        .hook(seen.by(inner.timing()).named("inner").inherited(true))
        .hook(outer.timing())
        .build()
        .unwrap();
    let timing = Timing::of(&block_on(agent.call("go")).unwrap()).unwrap();
    assert_eq!((timing.total, timing.rounds.len()), (ms(10), 2));
    let [of_helper, of_bot] = &*seen.take() else { panic!("two calls") };
    assert_eq!((of_helper.total, of_helper.rounds.len()), (ms(5), 1));
    assert_eq!((of_bot.total, of_bot.rounds.len()), (ms(5), 2));
}

#[test]
fn the_times_are_in_the_reply_only() {
    let script = Script::new().says("one").says("two");
    let agent = ReActAgent::builder("bot").model(script.clone()).hook(Timing::new());
    let agent = agent.build().unwrap();
    let reply = block_on(agent.call("go")).unwrap();
    assert!(reply.metadata.contains_key(Timing::METADATA_KEY));
    block_on(agent.call("again")).unwrap();
    let sent = &script.requests()[1].messages;
    assert!(sent.iter().all(|msg| msg.metadata.is_empty()));
}

#[test]
fn the_number_of_kept_rounds_and_tools_is_bounded() {
    let clock = Clock::default();
    let calls = (0..1100).map(|id| wait(&id.to_string())).collect();
    let builder = ReActAgent::builder("bot").model(model(&clock, calls));
    let agent = builder.tool(wait_tool(&clock, 1)).hook(clock.timing()).build().unwrap();
    let timing = Timing::of(&block_on(agent.call("go")).unwrap()).unwrap();
    assert_eq!((timing.tools().count(), timing.omitted), (1000, 100));
}

#[test]
fn calls_of_a_tool_without_answers_are_closed_too() {
    let clock = Clock::default();
    let builder = ReActAgent::builder("bot").model(model(&clock, vec![wait("1")]));
    let agent = builder.tool(Calls::new("wait")).hook(clock.timing()).build().unwrap();
    let timing = Timing::of(&block_on(agent.call("go")).unwrap()).unwrap();
    assert_eq!(timing.tools().next().unwrap().total, Some(ms(0)));
}

#[test]
fn a_call_that_resumes_tool_calls_begins_with_a_round_without_a_model() {
    let clock = Clock::default();
    let ask = on(|event: &mut PreActing<'_>| event.ask("may it wait?"));
    let builder = ReActAgent::builder("bot").model(model(&clock, vec![wait("1")]));
    let builder = builder.tool(wait_tool(&clock, 100)).hook(ask).hook(clock.timing());
    let agent = builder.build().unwrap();
    let asked = Timing::of(&block_on(agent.call("go")).unwrap()).unwrap();
    assert_eq!((asked.rounds.len(), asked.tools().count(), asked.total), (1, 0, ms(5)));
    let resumed = block_on(agent.resume(CallOptions::new().confirm("1"))).unwrap();
    let [first, last] = &*Timing::of(&resumed).unwrap().rounds else { panic!("two rounds") };
    assert!(first.model.is_none() && last.model.is_some());
    assert_eq!((first.tools.len(), first.total), (1, ms(100)));
}
