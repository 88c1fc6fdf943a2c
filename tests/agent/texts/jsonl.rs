//! The trace of calls as JSON lines (vectors JX).

use std::fmt;
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use futures::future::join_all;
use hooks_agent_builtin::observe::{JsonlTrace, JsonlTraceBuilder};
use hooks_agent_core::agent::{AgentExt, CallOutcome};
use hooks_agent_core::call::{CallContext, CallOptions};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{
    ActingChunk, ErrorEvent, ErrorPhase, EventKind, EventMask, Flow, HookEvent, PostActing,
    PostCall, PostReasoning, PostSummary, PreActing, PreCall, PreReasoning, PreSummary,
    ReasoningChunk, Settled, SummaryChunk,
};
use hooks_agent_core::hook::AgentHook;
use hooks_agent_core::message::{ContentBlock, Messages, Msg, ToolResult, ToolUse};
use hooks_agent_core::model::{ModelError, ScriptedAnswer, ScriptedModel};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::round::{Acted, ActingInput, Reasoned, ReasoningInput, SummaryInput};
use hooks_agent_core::tool::ToolError;
use hooks_agent_core::user::UserAgent;
use hooks_core::HookResult;
use hooks_fixtures::scripted_agents::{go, on, script, uses};
use hooks_fixtures::{Page, Records, Reports};
use serde_json::{Value, json};
use tracing::Level;
use tracing::subscriber::set_default;

fn everything() -> JsonlTraceBuilder {
    JsonlTrace::to_writer(Page::default())
        .include_reasoning_chunks()
        .include_acting_chunks()
        .include_summary()
        .include_summary_chunks()
}

fn agent() -> (UserAgent, CallContext) {
    let agent = UserAgent::builder("TestAgent").build();
    let cx = agent.context(CallOptions::new());
    (agent, cx)
}

async fn tell(trace: &JsonlTrace, event: HookEvent<'_>) -> HookResult {
    let mut event = event;
    trace.on_event(&mut event).await.map(drop)
}

async fn begin(trace: &JsonlTrace, agent: &UserAgent, cx: &CallContext) -> HookResult {
    tell(trace, HookEvent::PreCall(PreCall::new(agent, cx, &mut Messages::new()))).await
}

async fn settle(trace: &JsonlTrace, agent: &UserAgent, cx: &CallContext) -> HookResult {
    let outcome = CallOutcome::Finished(None);
    tell(trace, HookEvent::Settled(Settled::new(agent, cx, &outcome))).await
}

async fn end(trace: &JsonlTrace, agent: &UserAgent, cx: &CallContext) -> HookResult {
    tell(trace, HookEvent::PostCall(PostCall::new(agent, cx, &mut go()))).await
}

/// JX-01.
#[tokio::test]
#[expect(clippy::too_many_lines, reason = "there are twelve events")]
async fn every_event_is_a_line_with_its_keys_in_order() {
    let page = Page::default();
    let trace = JsonlTrace::to_writer(page.clone())
        .include_reasoning_chunks()
        .include_acting_chunks()
        .include_summary()
        .include_summary_chunks()
        .open()
        .unwrap();
    let (agent, cx) = agent();
    let msg = Arc::new(Msg::assistant("bot", "hi"));
    let piece = ContentBlock::text("hi");
    let call = ToolUse::new("1", "look", json!({}));
    let mut reasoning = ReasoningInput::new("m", go());
    let mut summary = SummaryInput::new("m", go());
    (summary.max_iterations, summary.current_iteration) = (10, 10);
    let mut reasoned = Reasoned::new("m", msg.clone());
    let mut input = ActingInput::new(call.clone());
    let mut acted = Acted::new(call.clone(), ToolResult::success(&call, "seen"));
    let boom = std::io::Error::other("boom");

    begin(&trace, &agent, &cx).await.unwrap();
    let mut answered = reasoned.clone();
    let told = [
        HookEvent::PreReasoning(PreReasoning::new(&agent, &cx, &mut reasoning)),
        HookEvent::ReasoningChunk(ReasoningChunk::new(&agent, &cx, &piece, &msg)),
        HookEvent::PostReasoning(PostReasoning::new(&agent, &cx, &mut answered).unwrap()),
        HookEvent::PreActing(PreActing::new(&agent, &cx, &mut input)),
        HookEvent::ActingChunk(ActingChunk::new(&agent, &cx, &call, "looking")),
        HookEvent::PostActing(PostActing::new(&agent, &cx, &mut acted).unwrap()),
        HookEvent::PreSummary(PreSummary::new(&agent, &cx, &mut summary)),
        HookEvent::SummaryChunk(SummaryChunk::new(&agent, &cx, &piece, &msg)),
        HookEvent::PostSummary(PostSummary::new(&agent, &cx, &mut reasoned).unwrap()),
        HookEvent::Error(ErrorEvent::new(&agent, &cx, ErrorPhase::Call, &boom)),
    ];
    for event in told {
        tell(&trace, event).await.unwrap();
    }
    end(&trace, &agent, &cx).await.unwrap();
    trace.close();

    let records = page.records();
    let names: Vec<_> =
        records.iter().map(|record| record["event_type"].as_str().unwrap()).collect();
    let expected = [
        "PRE_CALL",
        "PRE_REASONING",
        "REASONING_CHUNK",
        "POST_REASONING",
        "PRE_ACTING",
        "ACTING_CHUNK",
        "POST_ACTING",
        "PRE_SUMMARY",
        "SUMMARY_CHUNK",
        "POST_SUMMARY",
        "ERROR",
        "POST_CALL",
    ];
    assert_eq!(names, expected);
    let first = &records[0];
    assert_eq!((&first["agent_name"], &first["step_id"]), (&json!("TestAgent"), &json!(0)));
    assert_eq!(first["run_id"], json!(cx.run_id().to_string()));
    let steps: Vec<_> = records.iter().map(|record| record["step_id"].as_u64().unwrap()).collect();
    assert_eq!(steps, (0..12).collect::<Vec<_>>());
    assert_eq!(records[5]["incremental_chunk"], records[5]["chunk"]);
    assert_eq!(records[10]["error_message"], "boom");

    let text = page.text();
    let keys = |line: &str| -> Vec<String> {
        let mut keys: Vec<_> = serde_json::from_str::<serde_json::Map<String, Value>>(line)
            .unwrap()
            .keys()
            .map(|key| (line.find(&format!("\"{key}\":")).unwrap(), key.clone()))
            .collect();
        keys.sort();
        keys.into_iter().map(|(_, key)| key).collect()
    };
    let common = ["ts", "event_type", "agent_id", "agent_name", "run_id", "turn_id", "step_id"];
    let own: [&[&str]; 12] = [
        &["input_messages"],
        &["model_name", "generate_options", "input_messages", "effective_generate_options"],
        &["model_name", "generate_options", "incremental_chunk", "accumulated"],
        &[
            "model_name",
            "generate_options",
            "reasoning_message",
            "stop_requested",
            "goto_reasoning_requested",
        ],
        &["tool_use"],
        &["tool_use", "incremental_chunk", "chunk"],
        &["tool_use", "tool_result"],
        &[
            "model_name",
            "input_messages",
            "max_iterations",
            "current_iteration",
            "effective_generate_options",
        ],
        &["incremental_chunk", "accumulated"],
        &["summary_message"],
        &["error_class", "error_message", "stacktrace"],
        &["final_message"],
    ];
    for (line, own) in text.lines().zip(own) {
        assert_eq!(keys(line), [&common, own].concat(), "{line}");
    }
}

/// JX-02.
#[tokio::test]
async fn only_the_events_that_were_asked_for_are_written() {
    let page = Page::default();
    let trace =
        JsonlTrace::to_writer(page.clone()).events(EventKind::PreCall.into()).open().unwrap();
    let (agent, cx) = agent();
    begin(&trace, &agent, &cx).await.unwrap();
    end(&trace, &agent, &cx).await.unwrap();
    let records = page.records();
    assert_eq!((records.len(), &records[0]["event_type"]), (1, &json!("PRE_CALL")));
    let builder = everything().events(EventMask::NONE).open().unwrap();
    assert!(builder.events().contains(EventKind::ActingChunk));
    assert!(!builder.events().contains(EventKind::PreCall));
}

/// JX-03.
#[tokio::test]
async fn each_call_is_a_run_and_a_turn_of_its_own() {
    let page = Page::default();
    let trace = JsonlTrace::to_writer(page.clone()).open().unwrap();
    let (agent, first) = agent();
    let second = agent.context(CallOptions::new());
    begin(&trace, &agent, &first).await.unwrap();
    end(&trace, &agent, &first).await.unwrap();
    begin(&trace, &agent, &second).await.unwrap();
    let records = page.records();
    assert_ne!(records[0]["run_id"], records[2]["run_id"]);
    let turns: Vec<_> = records.iter().map(|record| record["turn_id"].as_u64().unwrap()).collect();
    assert_eq!(turns, [1, 1, 2]);
}

#[tokio::test]
async fn without_the_begin_of_calls_steps_are_counted_from_one() {
    let page = Page::default();
    let trace =
        JsonlTrace::to_writer(page.clone()).events(EventKind::PostCall.into()).open().unwrap();
    let (agent, cx) = agent();
    end(&trace, &agent, &cx).await.unwrap();
    let record = page.records().remove(0);
    assert_eq!((&record["turn_id"], &record["step_id"]), (&json!(0), &json!(1)));
}

/// JX-04.
#[tokio::test]
async fn a_closed_trace_takes_no_events_and_fails_only_if_it_fails_fast() {
    let (agent, cx) = agent();
    let patient = JsonlTrace::to_writer(Page::default()).open().unwrap();
    patient.close();
    patient.close();
    begin(&patient, &agent, &cx).await.unwrap();
    let hasty = JsonlTrace::to_writer(Page::default()).fail_fast(true).open().unwrap();
    hasty.close();
    let error = begin(&hasty, &agent, &cx).await.unwrap_err();
    assert_eq!(error.to_string(), "the trace is closed, no more events can be written to it");
}

/// A file that is full.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("no space left"))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Err(std::io::Error::other("no space left"))
    }
}

#[tokio::test]
async fn what_cannot_be_written_fails_the_call_only_if_the_trace_fails_fast() {
    for is_fast in [false, true] {
        let trace = JsonlTrace::to_writer(Full).fail_fast(is_fast).open().unwrap();
        let agent = ReActAgent::builder("bot")
            .model(ScriptedModel::new("m", |_| "done"))
            .hook(trace)
            .build()
            .unwrap();
        assert_eq!(agent.call(go()).await.is_err(), is_fast);
    }
}

/// JX-08: ours asks a closure, and so needs no tracing library.
#[tokio::test]
async fn the_span_of_the_caller_is_written_where_it_is_known() {
    let page = Page::default();
    let ids = ("0123456789abcdef0123456789abcdef", "89abcdef01234567");
    let trace = JsonlTrace::to_writer(page.clone())
        .span_ids(move || Some((ids.0.to_owned(), ids.1.to_owned())))
        .open()
        .unwrap();
    let (agent, cx) = agent();
    begin(&trace, &agent, &cx).await.unwrap();
    let record = page.records().remove(0);
    assert_eq!(
        (record["trace_id"].as_str(), record["span_id"].as_str()),
        (Some(ids.0), Some(ids.1))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_that_overlap_are_told_apart_and_no_line_is_lost() {
    let folder = std::env::temp_dir().join(format!("hooks-jsonl-{}", std::process::id()));
    let path = folder.join("deeper/trace.jsonl");
    let trace = JsonlTrace::builder(&path).flush_every_line(false).open().unwrap();
    let model = ScriptedModel::new("m", |_| "done");
    let agent = ReActAgent::builder("bot").model(model).hook(trace.clone()).build().unwrap();
    let agent = Arc::new(agent);
    let calls = (0..40).map(|index| {
        let agent = agent.clone();
        let options = CallOptions::new().thread(format!("thread {index}"));
        tokio::spawn(async move { agent.call_with(options, go()).await.map(drop) })
    });
    join_all(calls).await.into_iter().for_each(|call| call.unwrap().unwrap());
    // The last two that hold it go; what was gathered is written by then.
    drop((trace, agent));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    let records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 40 * 5);
    let mut turns: Vec<_> = Vec::new();
    let runs: std::collections::HashSet<_> =
        records.iter().map(|record| record["run_id"].as_str().unwrap()).collect();
    assert_eq!(runs.len(), 40);
    for run in runs {
        let own: Vec<_> =
            records.iter().filter(|record| record["run_id"].as_str().unwrap() == run).collect();
        let steps: Vec<_> = own.iter().map(|record| record["step_id"].as_u64().unwrap()).collect();
        assert_eq!(steps, [0, 1, 2, 3, 4]);
        turns.push(own[0]["turn_id"].as_u64().unwrap());
        assert!(own.iter().all(|record| record["turn_id"] == own[0]["turn_id"]));
    }
    turns.sort_unstable();
    assert_eq!(turns, (1..=40).collect::<Vec<_>>());
}

#[tokio::test]
async fn values_are_redacted_before_they_are_written_and_sub_agents_name_their_caller() {
    let page = Page::default();
    let trace = JsonlTrace::to_writer(page.clone())
        .redact(|key, value| {
            if key == "input_messages" {
                *value = json!("[redacted]");
            }
        })
        .open()
        .unwrap();
    let sub = ReActAgent::builder("sub")
        .model(ScriptedModel::new("m", |_| "hello"))
        .hook(trace.clone())
        .build()
        .unwrap();
    let (model, _) =
        script([uses([ToolUse::new("1", "sub", json!({ "task": "secret" }))]), "done".into()]);
    let boss = ReActAgent::builder("boss")
        .model(model)
        .tool(sub.to_tool("Greets."))
        .hook(trace)
        .build()
        .unwrap();
    boss.call(Msg::user("a secret")).await.unwrap();
    let records = page.records();
    let of = |name: &str| records.iter().find(|record| record["agent_name"] == name).unwrap();
    assert_eq!(of("sub")["parent_run_id"], of("boss")["run_id"]);
    assert!(of("boss").get("parent_run_id").is_none());
    assert!(
        records
            .iter()
            .all(|record| record.get("input_messages").is_none_or(|it| it == "[redacted]"))
    );
}

/// The type of event, the turn and the step of each line.
fn numbers(page: &Page) -> Vec<(String, u64, u64)> {
    let number = |record: &Value, key: &str| record[key].as_u64().unwrap();
    let line = |record: &Value| {
        let event = record["event_type"].as_str().unwrap().to_owned();
        (event, number(record, "turn_id"), number(record, "step_id"))
    };
    page.records().iter().map(line).collect()
}

fn line(event: &str, turn: u64, step: u64) -> (String, u64, u64) {
    (event.to_owned(), turn, step)
}

#[tokio::test]
async fn the_end_of_each_call_is_a_line_by_default() {
    let page = Page::default();
    let trace = JsonlTrace::to_writer(page.clone()).open().unwrap();
    let (model, _) =
        script(["done".into(), ScriptedAnswer::from(ModelError::Cut { model: "m".to_owned() })]);
    let agent = ReActAgent::builder("bot").model(model).hook(trace.clone()).build().unwrap();
    agent.call(go()).await.unwrap();
    agent.call(go()).await.unwrap_err();
    trace.close();
    let records = page.records();
    let ends: Vec<_> = records.iter().filter(|record| record["event_type"] == "SETTLED").collect();
    assert_eq!(ends[0]["outcome"], "finished");
    assert!(ends[1]["outcome"].as_str().unwrap().starts_with("failed: "));
    assert_eq!(ends.len(), 2);
    assert_eq!(records.last().unwrap(), ends[1]);
}

#[tokio::test]
async fn a_call_that_an_earlier_hook_answers_is_a_turn_too() {
    let page = Page::default();
    let trace = JsonlTrace::to_writer(page.clone()).open().unwrap();
    let agent = ReActAgent::builder("bot")
        .model(ScriptedModel::new("m", |_| "done"))
        .hook(on(EventKind::PreCall, |event| {
            let HookEvent::PreCall(event) = event else { unreachable!() };
            let is_known = event.messages().iter().any(|msg| msg.text() == "known");
            if is_known {
                return Ok(event.answer(Msg::assistant("bot", "as before")));
            }
            Ok(Flow::Continue)
        }))
        .hook(trace.clone())
        .build()
        .unwrap();
    agent.call(Msg::user("known")).await.unwrap();
    agent.call(go()).await.unwrap();
    agent.call(Msg::user("known")).await.unwrap();
    trace.close();
    let expected = [
        line("POST_CALL", 1, 0),
        line("SETTLED", 1, 1),
        line("PRE_CALL", 2, 0),
        line("PRE_REASONING", 2, 1),
        line("POST_REASONING", 2, 2),
        line("POST_CALL", 2, 3),
        line("SETTLED", 2, 4),
        line("POST_CALL", 3, 0),
        line("SETTLED", 3, 1),
    ];
    assert_eq!(numbers(&page), expected);
}

#[tokio::test]
async fn a_trace_records_agents_that_are_tools_only_if_it_is_inherited() {
    for inherits in [false, true] {
        let page = Page::default();
        let trace = JsonlTrace::to_writer(page.clone()).inherit(inherits).open().unwrap();
        let model = ScriptedModel::new("m", |_| "hello");
        let sub = ReActAgent::builder("sub").model(model).build().unwrap();
        let (model, _) =
            script([uses([ToolUse::new("1", "sub", json!({ "task": "greet" }))]), "done".into()]);
        let boss = ReActAgent::builder("boss")
            .model(model)
            .tool(sub.to_tool("Greets."))
            .hook(trace.clone())
            .build()
            .unwrap();
        boss.call(go()).await.unwrap();
        trace.close();
        let records = page.records();
        let of_sub: Vec<_> = records.iter().filter(|line| line["agent_name"] == "sub").collect();
        assert_eq!(of_sub.len(), if inherits { 5 } else { 0 });
        assert!(of_sub.iter().all(|line| line["parent_run_id"] == records[0]["run_id"]));
    }
}

/// The warnings of this thread, until the guard is dropped.
fn warnings() -> (tracing::subscriber::DefaultGuard, Arc<Records<String>>) {
    let (reports, records) = Reports::up_to(Level::WARN);
    (set_default(reports), records)
}

const LOST: &str = "WARN message=an event was not traced";

#[tokio::test]
async fn a_line_whose_redaction_panics_is_not_written_and_reported() {
    for is_fast in [false, true] {
        let page = Page::default();
        let trace = JsonlTrace::to_writer(page.clone())
            .fail_fast(is_fast)
            .redact(|key, _| assert!(key != "final_message", "no words for this"))
            .open()
            .unwrap();
        let model = ScriptedModel::new("m", |_| "the secret");
        let agent = ReActAgent::builder("bot")
            .model(model)
            .hook(on(EventKind::PostCall, |event| {
                let HookEvent::PostCall(event) = event else { unreachable!() };
                event.final_message_mut().push_text(" is open");
                Ok(Flow::Continue)
            }))
            .hook(trace.clone())
            .build()
            .unwrap();
        let (guard, warnings) = warnings();
        let ended = agent.call(go()).await;
        drop(guard);
        trace.close();
        let told = warnings.take();
        if is_fast {
            let AgentError::Hook(error) = ended.unwrap_err() else { panic!("another error") };
            assert!(error.to_string().ends_with("the closure `redact` of the trace panicked"));
        } else {
            assert_eq!(ended.unwrap().text(), "the secret is open");
            assert_eq!(told.len(), 1);
            assert!(told[0].starts_with(LOST) && told[0].contains("`redact`"), "{told:?}");
        }
        assert!(!page.text().contains("is open"));
        // The other lines are written, and the lost one leaves a gap.
        let lines = numbers(&page);
        assert_eq!(lines[..3].iter().map(|line| line.2).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(lines.last().unwrap() == &line("SETTLED", 1, if is_fast { 5 } else { 4 }));
    }
}

#[tokio::test]
async fn a_line_whose_span_panics_is_not_written_and_reported() {
    let (agent, cx) = agent();
    for is_fast in [false, true] {
        let page = Page::default();
        let trace = JsonlTrace::to_writer(page.clone())
            .fail_fast(is_fast)
            .span_ids(|| panic!("no span"))
            .open()
            .unwrap();
        let (guard, warnings) = warnings();
        let ended = begin(&trace, &agent, &cx).await;
        drop(guard);
        assert_eq!(page.text(), "");
        if is_fast {
            let error = ended.unwrap_err().to_string();
            assert_eq!(error, "the closure `span_ids` of the trace panicked");
        } else {
            ended.unwrap();
            assert!(warnings.take()[0].starts_with(LOST));
        }
    }
}

/// A file that is full, once the receiver lets each write go on.
struct SlowlyFull(Receiver<()>);

impl Write for SlowlyFull {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        let _ = self.0.recv();
        Err(std::io::Error::other("no space left"))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn slowly_full() -> (SlowlyFull, Sender<()>) {
    let (sender, receiver) = channel();
    (SlowlyFull(receiver), sender)
}

#[tokio::test]
async fn an_end_that_cannot_be_written_is_reported_however_late() {
    let (agent, cx) = agent();
    for is_fast in [false, true] {
        let (file, go_on) = slowly_full();
        let trace = JsonlTrace::to_writer(file).fail_fast(is_fast).open().unwrap();
        let (guard, warnings) = warnings();
        settle(&trace, &agent, &cx).await.unwrap();
        // The event is over, its line is not.
        assert_eq!(warnings.take().len(), 0);
        drop(guard);
        drop(go_on);
        trace.close();
        let told = warnings.take();
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with(LOST) && told[0].contains("SETTLED"), "{told:?}");
    }
}

#[tokio::test]
async fn a_line_is_reported_if_its_call_is_dropped_after_it_failed() {
    let (agent, cx) = agent();
    let (file, go_on) = slowly_full();
    let trace = JsonlTrace::to_writer(file).open().unwrap();
    let (_guard, warnings) = warnings();
    let mut begins = Box::pin(begin(&trace, &agent, &cx));
    assert!(futures::poll!(&mut begins).is_pending());
    drop(go_on);
    trace.close();
    assert_eq!(warnings.take().len(), 0);
    drop(begins);
    let told = warnings.take();
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with(LOST) && told[0].contains("PRE_CALL"), "{told:?}");
}

#[tokio::test]
async fn a_line_is_reported_if_its_call_is_dropped_before_it_fails() {
    let (agent, cx) = agent();
    let (file, go_on) = slowly_full();
    let trace = JsonlTrace::to_writer(file).open().unwrap();
    let (guard, warnings) = warnings();
    let mut begins = Box::pin(begin(&trace, &agent, &cx));
    assert!(futures::poll!(&mut begins).is_pending());
    drop(begins);
    drop(guard);
    drop(go_on);
    trace.close();
    assert!(warnings.take()[0].starts_with(LOST));
}

#[tokio::test]
async fn a_writer_that_panics_is_a_line_that_was_not_written() {
    struct Breaks;

    impl Write for Breaks {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            panic!("broken")
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let (agent, cx) = agent();
    let trace = JsonlTrace::to_writer(Breaks).fail_fast(true).open().unwrap();
    for _ in 0..2 {
        let error = begin(&trace, &agent, &cx).await.unwrap_err();
        assert_eq!(error.to_string(), "the trace could not be written");
        assert_eq!(error.source().unwrap().to_string(), "the writer panicked");
    }
}

#[tokio::test]
async fn a_closed_trace_forgets_the_calls_that_end() {
    let (agent, cx) = agent();
    for is_fast in [false, true] {
        let steps = Arc::new(Records::<u64>::new());
        let noted = steps.clone();
        let trace = JsonlTrace::to_writer(Page::default())
            .fail_fast(is_fast)
            .redact(move |key, value| {
                if key == "step_id" {
                    noted.push(value.as_u64().unwrap());
                }
            })
            .open()
            .unwrap();
        trace.close();
        let _guard = warnings();
        for ended in [
            begin(&trace, &agent, &cx).await,
            settle(&trace, &agent, &cx).await,
            // Begins again at zero, as nothing is known of the call.
            end(&trace, &agent, &cx).await,
        ] {
            assert_eq!(ended.is_err(), is_fast);
        }
        assert_eq!(steps.take(), [0, 1, 0]);
    }
}

/// An error of a user, whose texts all contain a secret.
struct Odd(&'static str);

impl fmt::Debug for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Odd {}

#[tokio::test]
async fn the_class_of_an_error_is_its_class_and_nothing_of_its_text() {
    let (agent, cx) = agent();
    let page = Page::default();
    let trace = JsonlTrace::to_writer(page.clone())
        .events(EventKind::Error.into())
        .redact(|key, value| {
            if matches!(key, "error_message" | "stacktrace") {
                *value = json!("[redacted]");
            }
        })
        .open()
        .unwrap();
    let (name, reason) = ("m".to_owned(), "secret".to_owned());
    let failed = || ModelError::Failed { model: name.clone(), reason: reason.clone() };
    let hooked = {
        let model = ScriptedModel::new("m", |_| "done");
        let fails = on(EventKind::PreCall, |_| Err(Odd("secret").into()));
        let agent = ReActAgent::builder("bot").model(model).hook(fails).build().unwrap();
        agent.call(go()).await.unwrap_err()
    };
    let shaken = {
        let model = ScriptedModel::new("m", |_| ModelError::Cut { model: "secret".to_owned() });
        let fails = on(EventKind::Error, |_| Err(Odd("secret").into()));
        let agent = ReActAgent::builder("bot").model(model).hook(fails).build().unwrap();
        agent.call(go()).await.unwrap_err()
    };
    let errors: [(Box<dyn std::error::Error + Send + Sync>, &str); 9] = [
        (Box::new(AgentError::from(failed())), "Model"),
        (Box::new(hooked), "Hook"),
        (Box::new(shaken), "Model"),
        (Box::new(AgentError::Compression(Odd("secret").into())), "Compression"),
        (Box::new(ToolError::Failed(Odd("secret").into())), "Failed"),
        (Box::new(ToolError::Panicked { tool: "secret".to_owned() }), "Panicked"),
        (Box::new(Odd("\"secret text\"")), "Error"),
        (Box::new(Odd("<secret>")), "Error"),
        (Box::new(Odd("secret")), "Error"),
    ];
    for (error, _) in &errors {
        let event = ErrorEvent::new(&agent, &cx, ErrorPhase::Call, &**error);
        tell(&trace, HookEvent::Error(event)).await.unwrap();
    }
    let records = page.records();
    let classes: Vec<_> =
        records.iter().map(|record| record["error_class"].as_str().unwrap()).collect();
    assert_eq!(classes, errors.map(|(_, class)| class));
    assert!(!page.text().contains("secret"), "{}", page.text());
}

#[tokio::test]
async fn lines_are_buffered_if_they_need_not_be_flushed_one_by_one() {
    let page = Page::default();
    let trace = JsonlTrace::to_writer(page.clone()).flush_every_line(false).open().unwrap();
    let agent = ReActAgent::builder("bot").model(script(["done"]).0).hook(trace.clone());
    agent.build().unwrap().call(go()).await.unwrap();
    assert!(page.text().is_empty());
    trace.close();
    assert!(!page.text().is_empty());
}
