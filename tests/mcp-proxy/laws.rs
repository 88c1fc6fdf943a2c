//! Laws that hold for any input.

use std::collections::BTreeMap;

use hooks_agent_core::event::{Flow, PreActing};
use hooks_agent_core::hook::on;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::sides::{Sides, call, proxy, result, text};

/// What one side does.
#[derive(Clone, Debug)]
enum Step {
    /// The agent asks, by an id of its own, a tool that passes or one that is denied.
    Ask { is_denied: bool, is_text: bool },
    /// The server answers the request at this place of those that wait, or one that nobody has made.
    Answer { place: usize, is_known: bool },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ask = (any::<bool>(), any::<bool>())
        .prop_map(|(is_denied, is_text)| Step::Ask { is_denied, is_text });
    let answer = (any::<usize>(), prop::bool::weighted(0.8))
        .prop_map(|(place, is_known)| Step::Answer { place, is_known });
    prop::collection::vec(prop_oneof![ask, answer], 0..40)
}

fn deny(event: &mut PreActing<'_>) -> Flow {
    match event.tool_use().name.as_str() {
        "mcp__bank__pay" => event.refuse("no payments"),
        _ => Flow::Continue,
    }
}

/// Plays the steps, then ends the server. Returns how many answers each request had.
async fn answers(steps: Vec<Step>) -> (usize, BTreeMap<String, usize>) {
    let mut sides = Sides::of(proxy(on(deny)));
    let (mut asked, mut waiting) = (0, Vec::new());
    for step in steps {
        match step {
            Step::Ask { is_denied, is_text } => {
                let id = if is_text { json!(asked.to_string()) } else { json!(asked) };
                asked += 1;
                let call = call(id.clone(), if is_denied { "pay" } else { "read" });
                sides.agent.send(call.clone()).await;
                if !is_denied {
                    assert_eq!(sides.server.read().await, call);
                    waiting.push(id);
                }
            }
            Step::Answer { is_known: false, .. } => {
                sides.server.send(result("nobody's", &text("?"))).await;
            }
            Step::Answer { place, .. } => {
                if !waiting.is_empty() {
                    let id = waiting.remove(place % waiting.len());
                    sides.server.send(result(id, &text("ok"))).await;
                }
            }
        }
    }
    sides.nothing_for_server().await;
    sides.server.close().await;
    let mut counts = BTreeMap::new();
    while let Some(answer) = sides.agent.next().await {
        *counts.entry(answer["id"].to_string()).or_default() += 1;
    }
    (asked, counts)
}

/// What the agent and the server get of these bytes, cut at these places.
async fn messages(bytes: &[u8], cuts: &[usize]) -> (Vec<Value>, Vec<Value>) {
    let mut sides = Sides::of(proxy(on(deny)).grace(std::time::Duration::from_hours(1)));
    let mut places: Vec<_> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    for pair in places.windows(2) {
        sides.agent.write(&bytes[pair[0]..pair[1]]).await;
        tokio::task::yield_now().await;
    }
    sides.agent.close().await;
    let (mut of_server, mut of_agent) = (Vec::new(), Vec::new());
    while let Some(message) = sides.server.next().await {
        of_server.push(message);
    }
    sides.server.close().await;
    while let Some(message) = sides.agent.next().await {
        of_agent.push(message);
    }
    of_agent.sort_by_key(Value::to_string);
    (of_server, of_agent)
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_request_has_one_answer_whatever_the_order(steps in steps()) {
        let (asked, counts) = run(answers(steps));
        // The last request is that of `nothing_for_server`.
        prop_assert_eq!(counts.len(), asked + 1);
        prop_assert!(counts.values().all(|count| *count == 1), "{:?}", counts);
    }

    #[test]
    fn the_same_bytes_are_the_same_messages_wherever_they_are_cut(
        lines in prop::collection::vec(prop_oneof![
            Just(call(1, "read").to_string()),
            Just(call("é", "pay").to_string()),
            Just(json!({ "jsonrpc": "2.0", "method": "x", "params": { "a": "\n😀" } }).to_string()),
            "[ -~]{0,20}",
            Just(String::new()),
        ], 0..8),
        ends in any::<bool>(),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let mut bytes = lines.join("\n");
        if ends {
            bytes.push_str("\r\n");
        }
        let whole = run(messages(bytes.as_bytes(), &[]));
        prop_assert_eq!(whole, run(messages(bytes.as_bytes(), &cuts)));
    }
}
