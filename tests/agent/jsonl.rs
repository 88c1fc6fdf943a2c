//! The trace of calls as JSON lines (vectors JX).

use std::io::Write;
use std::sync::{Arc, Mutex};

use futures::future::join_all;
use hooks_agent::{
    Acted, ActingChunk, ActingInput, AgentExt, AgentHook, CallContext, CallOptions, ContentBlock,
    Control, ErrorEvent, ErrorPhase, EventKind, EventMask, HookEvent, JsonlTrace,
    JsonlTraceBuilder, Messages, ModelOptions, Msg, PostActing, PostCall, PostReasoning,
    PostSummary, PreActing, PreCall, PreReasoning, PreSummary, ReActAgent, Reasoned,
    ReasoningChunk, ReasoningInput, ScriptedModel, SummaryChunk, SummaryInput, ToolResult, ToolUse,
    UserAgent,
};
use hooks_core::HookResult;
use hooks_tests::scripted_agents::{go, script, uses};
use serde_json::{Value, json};

/// A file that stays in memory.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Page {
    fn records(&self) -> Vec<Value> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

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

    let text = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
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
    assert_eq!(records.len(), 40 * 4);
    let mut turns: Vec<_> = Vec::new();
    let runs: std::collections::HashSet<_> =
        records.iter().map(|record| record["run_id"].as_str().unwrap()).collect();
    assert_eq!(runs.len(), 40);
    for run in runs {
        let own: Vec<_> =
            records.iter().filter(|record| record["run_id"].as_str().unwrap() == run).collect();
        let steps: Vec<_> = own.iter().map(|record| record["step_id"].as_u64().unwrap()).collect();
        assert_eq!(steps, [0, 1, 2, 3]);
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
        .tool(sub.as_tool("Greets."))
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
