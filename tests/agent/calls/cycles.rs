//! Agents that call each other.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::join;
use hooks_agent_core::error::ErrorKind;
use hooks_agent_core::prelude::*;
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::time::timeout;

type Cell = Arc<OnceLock<Arc<ReActAgent>>>;

/// How a tool calls the other agent.
#[derive(Clone, Copy)]
enum Calls {
    AsChild,
    OnItsOwn,
}

/// An agent with a tool that asks another agent; the message `Go` makes it ask.
fn agent(
    name: &str,
    other: &Cell,
    says: &'static str,
    together: Arc<Barrier>,
    calls: Calls,
) -> Arc<ReActAgent> {
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => format!("told: {}", result.output).into(),
            None if request.last_text() == "Go" => ToolUse::new("1", "ask", json!({})).into(),
            None => "ok".into(),
        }
    });
    let other = other.clone();
    let ask =
        FunctionTool::with_context("ask", "Asks the other.", move |_: Value, cx: ToolContext| {
            let (other, together) = (other.get().unwrap().clone(), together.clone());
            async move {
                together.wait().await;
                let options = match calls {
                    Calls::AsChild => CallOptions::new().child_of(cx.call()),
                    Calls::OnItsOwn => CallOptions::new(),
                };
                other.call_with(options, says).await.map(|reply| reply.text())
            }
        });
    Arc::new(ReActAgent::builder(name).model(model).tool(ask).build().unwrap())
}

fn both(says: &'static str, at_once: usize, calls: Calls) -> (Arc<ReActAgent>, Arc<ReActAgent>) {
    let (one, other) = (Cell::default(), Cell::default());
    let together = Arc::new(Barrier::new(at_once));
    let a = agent("a", &other, says, together.clone(), calls);
    let b = agent("b", &one, says, together, calls);
    one.set(a.clone()).unwrap();
    other.set(b.clone()).unwrap();
    (a, b)
}

const CYCLE: &str = "calls would wait for each other for ever: ";

#[tokio::test(start_paused = true)]
async fn of_two_calls_that_would_wait_for_each_other_one_fails_and_names_the_cycle() {
    for calls in [Calls::AsChild, Calls::OnItsOwn] {
        let (a, b) = both("Help", 2, calls);
        let ended = timeout(Duration::from_mins(1), join(a.call("Go"), b.call("Go"))).await;
        let (one, other) = ended.expect("nobody waits for ever");
        let mut texts = [one.unwrap().text(), other.unwrap().text()];
        texts.sort();
        assert!(texts[0].starts_with(&format!("told: {CYCLE}agent `")), "{texts:?}");
        for name in ["agent `a` on thread `default`", "agent `b` on thread `default`"] {
            assert!(texts[0].contains(name), "{texts:?}");
        }
        assert_eq!(texts[1], "told: ok");
        // Both threads are free again.
        assert_eq!(a.call("Help").await.unwrap().text(), "ok");
        assert_eq!(b.call("Help").await.unwrap().text(), "ok");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_comes_back_to_its_own_thread_without_its_parent_fails_and_names_the_cycle() {
    let (a, _b) = both("Go", 1, Calls::OnItsOwn);
    let ended = timeout(Duration::from_mins(1), a.call("Go")).await;
    let text = ended.expect("nobody waits for ever").unwrap().text();
    let cycle = "agent `a` on thread `default`, which waits for agent `a` on thread `default`";
    assert_eq!(text, format!("told: told: {CYCLE}{cycle}; use another thread for one of them"));
}

#[tokio::test(start_paused = true)]
async fn the_error_of_a_cycle_has_its_kind_and_its_calls() {
    let (a, b) = both("Help", 2, Calls::AsChild);
    let cycles = Arc::new(hooks_fixtures::Records::new());
    for agent in [&a, &b] {
        let cycles = cycles.clone();
        agent.register_agent_hook(on(move |event: &mut ErrorEvent<'_>| {
            cycles.push(event.error().to_string());
        }));
    }
    let _ = join(a.call("Go"), b.call("Go")).await;
    assert_eq!(cycles.take().len(), 1, "the failure of one tool");
    assert_eq!(ErrorKind::WaitsInCycle.as_str(), "waits_in_cycle");
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_in_a_line_are_no_cycle() {
    let (a, _b) = both("Help", 1, Calls::AsChild);
    let all = join(join(a.call("Go"), a.call("Go")), join(a.call("Go"), a.call("Help"))).await;
    for reply in [all.0.0, all.0.1, all.1.0] {
        assert_eq!(reply.unwrap().text(), "told: ok");
    }
    assert_eq!(all.1.1.unwrap().text(), "ok");
}
