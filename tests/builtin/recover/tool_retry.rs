//! `ToolRetry`.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hooks_agent_builtin::recover::{OnFailure, RetryPolicy, ToolRetry};
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::event::EventMask;
use hooks_agent_core::hook::AroundMask;
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Probe, Script, check_history};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::results;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::around::Count;

fn tool_call(name: &str) -> ToolUse {
    ToolUse::new("1", name, json!({}))
}

/// A tool that fails this many times, and how often it ran.
fn flaky(name: &str, failures: usize) -> (FunctionTool, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = runs.clone();
    let tool = FunctionTool::new(name, "Fails at first.", move |_: Value| {
        let has_failed = count.fetch_add(1, Ordering::Relaxed) < failures;
        async move { if has_failed { Err("the disk is full") } else { Ok("fine") } }
    });
    (tool, runs)
}

fn now(attempts: usize) -> ToolRetry {
    let policy = RetryPolicy::new().attempts(attempts).initial_delay(Duration::ZERO);
    ToolRetry::with(policy).unwrap()
}

async fn run(tool: impl Tool + 'static, hook: ToolRetry) -> (ReActAgent, String) {
    let script = Script::new().calls([tool_call(tool.name())]).says("done");
    let agent = ReActAgent::builder("bot").model(script).tool(tool).hook(hook).build().unwrap();
    agent.call("go").await.unwrap();
    let text = results(&agent).remove(0).1;
    (agent, text)
}

#[tokio::test]
async fn a_tool_that_may_run_twice_runs_again() {
    let (tool, runs) = flaky("read", 2);
    let (agent, text) = run(tool.idempotent(), now(3)).await;
    assert_eq!((text.as_str(), runs.load(Ordering::Relaxed)), ("fine", 3));
    check_history(agent.memory());
}

#[tokio::test]
async fn another_tool_does_not() {
    let (tool, runs) = flaky("pay", 1);
    let (_, text) = run(tool, now(3)).await;
    assert_eq!((text.as_str(), runs.load(Ordering::Relaxed)), ("! the disk is full", 1));
}

/// D 3.6: only listed tools are retried.
#[tokio::test]
async fn named_tools_run_again_and_no_others() {
    let (tool, runs) = flaky("pay", 1);
    assert_eq!(run(tool, now(3).tools(["pay"])).await.1, "fine");
    assert_eq!(runs.load(Ordering::Relaxed), 2);
    let (tool, runs) = flaky("read", 1);
    assert_eq!(run(tool.idempotent(), now(3).tools(["pay"])).await.1, "! the disk is full");
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

/// D 3.6: `max_retries` 0 is 1 call, message "1 attempt".
#[tokio::test]
async fn the_model_reads_how_many_attempts_failed() {
    let (tool, _) = flaky("read", 9);
    let (_, text) = run(tool.idempotent(), now(3)).await;
    assert_eq!(text, "! Tool `read` failed after 3 attempts: the disk is full");
    let (tool, _) = flaky("read", 9);
    let (_, text) = run(tool.idempotent(), now(1)).await;
    assert_eq!(text, "! Tool `read` failed after 1 attempt: the disk is full");
}

/// D 3.6: `on_failure` error is the original; of a closure, its text.
#[tokio::test]
async fn the_end_of_all_attempts_is_chosen() {
    for (on_failure, expected) in [
        (OnFailure::Error, "! the disk is full"),
        (OnFailure::text(|failed| format!("{} gave up", failed.tool)), "! read gave up"),
        (
            OnFailure::text(|_| panic!("a bug")),
            "! Tool `read` failed after 2 attempts: the disk is full",
        ),
    ] {
        let (tool, _) = flaky("read", 9);
        assert_eq!(run(tool.idempotent(), now(2).on_failure(on_failure)).await.1, expected);
    }
}

#[tokio::test]
async fn error_hooks_receive_the_failure_once() {
    let errors: Arc<Records<String>> = Arc::default();
    let seen = errors.clone();
    let (tool, _) = flaky("read", 9);
    let script = Script::new().calls([tool_call("read")]).says("done");
    let agent = ReActAgent::builder("bot")
        .model(script)
        .tool(tool.idempotent())
        .hook(now(2))
        .hook(on(move |event: &mut ErrorEvent<'_>| seen.push(event.error().to_string())))
        .build()
        .unwrap();
    agent.call("go").await.unwrap();
    assert_eq!(errors.take(), ["Tool `read` failed after 2 attempts: the disk is full"]);
}

/// D 3.6: errors that do not match never reach `on_failure`; an interrupt passes.
#[tokio::test]
async fn what_is_no_failure_of_the_tool_passes_untouched() {
    let tool = || "read".to_owned();
    let probe = Probe::new(now(3).tools(["read"]).retry_on(|_| true));
    for error in [
        ToolError::Interrupted,
        ToolError::Waiting { pending: Vec::new() },
        ToolError::Unknown { tool: tool(), known: Vec::new() },
        ToolError::Denied { tool: tool(), reason: "no".to_owned() },
        ToolError::InvalidInput { tool: tool(), written: "x".to_owned() },
    ] {
        let text = error.to_string();
        let mut call = probe.around_tool(tool_call("read")).unwrap();
        call.next_request().await.fail(error);
        assert_eq!(call.answer().await.unwrap_err().to_string(), text);
    }
    let probe = Probe::new(now(3).tools(["read"]).retry_on(|_| false));
    let mut call = probe.around_tool(tool_call("read")).unwrap();
    call.next_request().await.fail("broken");
    assert_eq!(call.answer().await.unwrap_err().to_string(), "broken");
}

#[tokio::test]
async fn an_error_of_a_hook_inside_fails_the_call() {
    let limit = Count::tools().failing();
    let (tool, runs) = flaky("read", 0);
    let agent = ReActAgent::builder("bot")
        .model(Script::new().calls([tool_call("read")]))
        .tool(tool.idempotent())
        .hook(now(3).retry_on(|_| true))
        .hook(limit.clone().with_priority(200))
        .build()
        .unwrap();
    assert!(matches!(agent.call("go").await, Err(AgentError::Hook(_))));
    assert_eq!((limit.get(), runs.load(Ordering::Relaxed)), (1, 0));
}

/// Answers with an error result.
struct Refuse(Count);

impl AgentHook for Refuse {
    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    fn around(&self) -> AroundMask {
        AroundMask::TOOL_CALL
    }

    fn priority(&self) -> i32 {
        400
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        _: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        self.0.calls.fetch_add(1, Ordering::Relaxed);
        Ok(ToolResult::error(call.tool_use(), "busy"))
    }
}

#[tokio::test]
async fn results_that_are_errors_are_repeated_by_choice() {
    for (hook, runs) in [(now(3), 1), (now(3).retry_results(true), 3)] {
        let count = Count::tools();
        let (tool, _) = flaky("read", 0);
        let agent = ReActAgent::builder("bot")
            .model(Script::new().calls([tool_call("read")]).says("done"))
            .tool(tool.idempotent())
            .hook(hook)
            .hook(Refuse(count.clone()))
            .build()
            .unwrap();
        agent.call("go").await.unwrap();
        assert_eq!((results(&agent)[0].1.as_str(), count.get()), ("! busy", runs));
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_takes_too_long_runs_again() {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = runs.clone();
    let slow = FunctionTool::new("slow", "Is slow at first.", move |_: Value| {
        let is_first = count.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            sleep(Duration::from_secs(if is_first { 100 } else { 1 })).await;
            "fine"
        }
    });
    let start = Instant::now();
    let agent = ReActAgent::builder("bot")
        .model(Script::new().calls([tool_call("slow")]).says("done"))
        .tool(slow.idempotent())
        .tool_timeout(Duration::from_secs(10))
        .hook(ToolRetry::with(RetryPolicy::new().jitter(false)).unwrap())
        .build()
        .unwrap();
    agent.call("go").await.unwrap();
    assert_eq!(results(&agent)[0].1, "fine");
    assert_eq!(start.elapsed(), Duration::from_secs(12));
}

/// D 3.6: a successful sibling is not re-run.
#[tokio::test(start_paused = true)]
async fn a_tool_call_beside_it_runs_once() {
    for at_once in [false, true] {
        let (failing, failing_runs) = flaky("failing", 2);
        let sibling = Calls::new("sibling").answers("fine");
        let calls =
            [ToolUse::new("1", "failing", json!({})), ToolUse::new("2", "sibling", json!({}))];
        let agent = ReActAgent::builder("bot")
            .model(Script::new().calls(calls).says("done"))
            .tool(failing.idempotent())
            .tool(sibling.clone())
            .parallel_tools(at_once)
            .hook(ToolRetry::new().tools(["failing", "sibling"]))
            .build()
            .unwrap();
        agent.call("go").await.unwrap();
        sibling.assert_called_with([json!({})]);
        assert_eq!(failing_runs.load(Ordering::Relaxed), 3);
        let texts: Vec<_> = results(&agent).into_iter().map(|(id, text)| id + &text).collect();
        assert_eq!(texts, ["1fine", "2fine"]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_the_delay_of_a_tool() {
    let (tool, runs) = flaky("read", 9);
    let agent = ReActAgent::builder("bot")
        .model(Script::new().calls([tool_call("read")]).says("done"))
        .tool(tool.idempotent())
        .hook(ToolRetry::new())
        .build()
        .unwrap();
    let interrupt = Interrupt::new();
    let options = CallOptions::new().interrupt(interrupt.clone());
    let (reply, ()) = tokio::join!(agent.call_with(options, "go"), async {
        sleep(Duration::from_millis(100)).await;
        interrupt.interrupt();
    });
    assert_eq!(reply.unwrap().reason, Some(GenerateReason::Interrupted));
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    check_history(agent.memory());
}

#[tokio::test]
async fn the_key_of_a_tool_call_is_the_same_in_each_attempt_and_never_another_ones() {
    let keys: Arc<Records<String>> = Arc::default();
    let seen = keys.clone();
    let pay = FunctionTool::with_context("pay", "Pays.", move |_: Value, cx: ToolContext| {
        seen.push(cx.idempotency_key());
        async { Err::<String, _>("busy") }
    });
    // Ids come again in later rounds and in other calls.
    let round = || [ToolUse::new("1", "pay", json!({})), ToolUse::new("2", "pay", json!({}))];
    let script = Script::new().calls(round()).calls(round()).says("done");
    let script = script.calls(round()).says("done");
    let agent = ReActAgent::builder("bot")
        .model(script)
        .tool(pay)
        .parallel_tools(true)
        .hook(now(3).tools(["pay"]))
        .build()
        .unwrap();
    agent.call("go").await.unwrap();
    agent.call("go").await.unwrap();
    let keys = keys.take();
    assert_eq!(keys.len(), 18);
    let different: HashSet<_> = keys.iter().collect();
    assert_eq!(different.len(), 6);
    for key in different {
        assert_eq!(keys.iter().filter(|other| *other == key).count(), 3);
        let is_plain = |char: char| char.is_ascii_alphanumeric() || char == '-';
        assert!(key.len() <= 64 && key.chars().all(is_plain), "{key}");
    }
}

#[test]
fn a_tool_outside_of_an_agent_has_a_key() {
    let (one, other) =
        (ToolContext::detached(tool_call("a")), ToolContext::detached(tool_call("a")));
    assert_eq!(one.idempotency_key(), one.clone().idempotency_key());
    assert_ne!(one.idempotency_key(), other.idempotency_key());
}
