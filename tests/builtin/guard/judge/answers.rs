//! A refused answer is nowhere, and goes back as often as it may.

use std::io::Write;
use std::sync::{Arc, Mutex};

use hooks_agent_builtin::guard::{Judge, PiiDetection};
use hooks_agent_builtin::limit::ModelCallLimit;
use hooks_agent_builtin::observe::JsonlTrace;
use hooks_agent_core::message::{GenerateReason, Usage};
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_fixtures::Records;
use serde_json::json;

use crate::judge::{BAD, CODE, GOOD, REFUSED, TELLS, blocked, no_codes, shown, texts, verdicts};

/// A file that a test reads.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn agent(script: &Script, judge: Judge) -> ReActAgent {
    ReActAgent::builder("bot").model(script.clone()).hook(judge).build().unwrap()
}

#[tokio::test]
async fn nothing_of_a_refused_answer_is_in_memory_stream_trace_error_or_the_next_request() {
    let script = Script::new().says(TELLS).says("Hello.");
    // A judge that quotes what it read.
    let quotes = json!({ "score": 0.0, "reason": format!("It says: {TELLS}") }).to_string();
    let (small, _) = verdicts([quotes.as_str(), GOOD]);
    let lines = Lines::default();
    let trace = JsonlTrace::to_writer(lines.clone()).open().unwrap();
    let builder = ReActAgent::builder("bot").model(script.clone()).hook(trace.clone());
    let agent = builder.hook(Judge::new(small, "Tell no codes.")).build().unwrap();
    let shown = shown(&agent, "What is the code?").await;
    assert!(shown.contains("does not meet the rubric"), "{shown}");
    assert!(shown.contains("It says:.."), "{shown}");
    assert_eq!(texts(&agent), ["What is the code?"]);
    assert_eq!(agent.call("Hello").await.unwrap().text(), "Hello.");
    let memory = format!("{:?}", agent.memory().messages());
    let requests = format!("{:?}", script.requests());
    trace.close();
    let trace = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(trace.contains("Hello."), "{trace}");
    for kept in [shown, memory, requests, trace] {
        for part in [CODE, "Certainly", "dear"] {
            assert!(!kept.contains(part), "{part}: {kept}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_passes_streams_as_it_came_after_the_verdict() {
    let seen = Arc::new(Records::new());
    let noted = seen.clone();
    let small = ScriptedModel::new("small", move |request| {
        noted.push(request.last_text());
        GOOD
    });
    let noted = seen.clone();
    let chunks = on(move |event: &mut ReasoningChunk<'_>| {
        noted.push(format!("{:?}", event.incremental()));
    });
    let script = Script::new().thinks("Well", "One two three.");
    let builder = ReActAgent::builder("bot").model(script).hook(Judge::new(small, "Be good."));
    let agent = builder.hook(chunks).build().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "One two three.");
    let judged = json!({ "kind": "answer", "text": "One two three." }).to_string();
    let seen = seen.take();
    assert_eq!(seen[0], judged);
    assert_eq!(seen.len(), 5, "{seen:?}");
}

#[tokio::test]
async fn an_answer_goes_back_with_the_reason_and_without_the_answer() {
    let script = Script::new().says(TELLS).says("I do not tell it.");
    let agent = agent(&script, Judge::new(no_codes(), "Tell no codes.").send_back(2));
    let shown = shown(&agent, "What is the code?").await;
    assert!(!shown.contains("Certainly"), "{shown}");
    assert_eq!(texts(&agent), ["What is the code?", "I do not tell it."]);
    let [_, second] = &script.requests()[..] else { panic!("two requests") };
    let note = format!(
        "[Note: nobody has seen the answer that you gave: {REFUSED}. Answer again, so that it does.]"
    );
    let said: Vec<_> = second.messages.iter().map(Msg::text).collect();
    assert_eq!(said, ["What is the code?", note.as_str()]);
}

#[tokio::test]
async fn an_answer_goes_back_n_times_in_a_call_and_then_the_call_ends() {
    let script = Script::new().says(TELLS).says(TELLS).says(TELLS).says("Never reached.");
    let agent = agent(&script, Judge::new(no_codes(), "Tell no codes.").send_back(2));
    let error = agent.call("What is the code?").await.unwrap_err();
    assert_eq!(blocked(&error), REFUSED);
    assert_eq!(script.requests().len(), 3);
    assert_eq!(texts(&agent), ["What is the code?"]);
    // The next call has its own count.
    let error = agent.call("Again").await;
    assert_eq!(error.unwrap().text(), "Never reached.");
}

#[tokio::test]
async fn the_rounds_of_a_call_share_the_count() {
    let uses = ToolUse::new("1", "look", json!({}));
    let script = Script::new().says(TELLS).calls([uses]).says(TELLS).says("Never reached.");
    let judge = Judge::new(no_codes(), "Tell no codes.").send_back(1);
    let builder = ReActAgent::builder("bot").model(script.clone()).tool(Calls::new("look"));
    let agent = builder.hook(judge).build().unwrap();
    assert_eq!(blocked(&agent.call("Go").await.unwrap_err()), REFUSED);
    assert_eq!(script.requests().len(), 3);
}

#[tokio::test]
async fn a_text_beside_a_tool_call_is_judged_and_the_tool_does_not_run() {
    let uses = ContentBlock::ToolUse(ToolUse::new("1", "look", json!({})));
    let script = Script::new().turn(vec![ContentBlock::text(TELLS), uses]);
    let look = Calls::new("look");
    let builder = ReActAgent::builder("bot").model(script).tool(look.clone());
    let agent = builder.hook(Judge::new(no_codes(), "Tell no codes.")).build().unwrap();
    assert_eq!(blocked(&agent.call("Go").await.unwrap_err()), REFUSED);
    look.assert_called_with([]);
}

#[tokio::test]
async fn the_summary_after_the_last_round_is_judged() {
    let uses = ToolUse::new("1", "look", json!({}));
    let script = Script::new().calls([uses]).says(TELLS);
    let builder = ReActAgent::builder("bot").model(script).tool(Calls::new("look")).max_iters(1);
    let agent = builder.hook(Judge::new(no_codes(), "Tell no codes.")).build().unwrap();
    assert_eq!(blocked(&agent.call("Go").await.unwrap_err()), REFUSED);
}

#[tokio::test]
async fn what_a_limit_answers_is_not_judged() {
    let (small, asked) = verdicts([BAD]);
    let limit = ModelCallLimit::builder().run(0).build().unwrap();
    let builder = ReActAgent::builder("bot").model(Script::new()).hook(limit);
    let agent = builder.hook(Judge::new(small, "Tell no codes.")).build().unwrap();
    let reply = agent.call("Go").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::LimitReached));
    assert_eq!(asked.take(), []);
}

#[tokio::test]
async fn limits_count_an_answer_that_goes_back() {
    let script = Script::new().says(TELLS);
    let limit = ModelCallLimit::builder().run(1).build().unwrap();
    let builder = ReActAgent::builder("bot").model(script.clone()).hook(limit);
    let judge = Judge::new(no_codes(), "Tell no codes.").send_back(5);
    let reply = builder.hook(judge).build().unwrap().call("Go").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::LimitReached));
    assert_eq!(script.requests().len(), 1);
}

#[tokio::test]
async fn a_stream_that_breaks_off_shows_nothing_of_what_was_not_judged() {
    let script = Script::new().cut_after(TELLS);
    let agent = agent(&script, Judge::new(no_codes(), "Tell no codes."));
    let shown = shown(&agent, "Go").await;
    assert!(!shown.contains("Certainly") && shown.contains("Err(Model(Cut"), "{shown}");
    assert_eq!(texts(&agent), ["Go"]);
    let script = Script::new().fails(ModelError::status("script", 401));
    let judge = Judge::new(no_codes(), "Tell no codes.").send_back(1);
    let agent = self::agent(&script, judge);
    assert!(matches!(agent.call("Go").await, Err(AgentError::Model(ModelError::Status { .. }))));
}

#[tokio::test]
async fn the_tokens_of_the_judge_and_of_refused_answers_count() {
    let costs = |text: &str| ScriptedAnswer::from(text).costing(Usage::new(10, 1));
    let usage = async |judge: Judge| {
        let script = Script::new().turn(costs(TELLS)).turn(costs("No."));
        let reply = agent(&script, judge.send_back(1)).call("Go").await.unwrap();
        let usage = reply.usage.unwrap();
        (usage.input_tokens, usage.output_tokens)
    };
    let judge = || Judge::new(no_codes(), "Tell no codes.");
    // Two answers and two verdicts.
    assert_eq!(usage(judge()).await, (30, 6));
    assert_eq!(usage(judge().count_usage(false)).await, (20, 2));
    let script = Script::new().turn(costs(TELLS));
    let spent = Arc::new(Records::new());
    let noted = spent.clone();
    let note = on(move |event: &mut Settled<'_>| noted.push(event.context().usage()));
    let builder = ReActAgent::builder("bot").model(script).hook(judge()).hook(note);
    builder.build().unwrap().call("Go").await.unwrap_err();
    assert_eq!(spent.take(), [Usage::new(15, 3)]);
}

#[tokio::test]
async fn a_threshold_is_the_least_score_that_passes() {
    for (threshold, passes) in [
        (None, true),
        (Some(0.5), true),
        (Some(0.500_001), false),
        (Some(0.0), true),
        (Some(-3.0), true),
        (Some(1.0), false),
        (Some(7.0), false),
        (Some(f64::NAN), false),
    ] {
        let (small, _) = verdicts([r#"{"score": 0.5, "reason": "So so."}"#]);
        let judge = Judge::new(small, "Be good.");
        let judge = match threshold {
            Some(threshold) => judge.threshold(threshold),
            None => judge,
        };
        let reply = agent(&Script::new().says("Hello."), judge).call("Go").await;
        assert_eq!(reply.is_ok(), passes, "{threshold:?}");
    }
    for (score, passes) in [("1", true), ("1.0", true), ("0", false), ("0.499", false)] {
        let verdict = format!(r#"{{"score": {score}, "reason": ""}}"#);
        let (small, _) = verdicts([verdict.as_str()]);
        let judge = Judge::new(small, "Be good.");
        let reply = agent(&Script::new().says("Hello."), judge).call("Go").await;
        assert_eq!(reply.is_ok(), passes, "{score}");
    }
}

#[tokio::test]
async fn a_redactor_changes_an_answer_that_has_passed() {
    let (small, asked) = verdicts([GOOD]);
    let script = Script::new().says("Write to ada@example.com.");
    let builder = ReActAgent::builder("bot").model(script).hook(Judge::new(small, "Be good."));
    let agent = builder.hook(PiiDetection::email().output(true)).build().unwrap();
    let reply = agent.call("Go").await.unwrap();
    assert_eq!(reply.text(), "Write to [REDACTED_EMAIL].");
    assert_eq!(asked.take().len(), 1);
}
