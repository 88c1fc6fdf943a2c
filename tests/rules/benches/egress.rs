//! The cost of `EgressGuard` on a streamed answer of 10 KB: without URLs, with 20 to listed hosts, and with 20 to others.
//!
//! `cargo bench -p hooks-agent-rules-tests --bench egress` prints one line per case, on one core, beside the same
//! answer without a guard, beside a rewriter that searches nothing, and beside another guard that reads each character,
//! `PiiDetection`. The promise: how often a
//! text is read does not grow with its chunks, nor with its links. The allocations say so, and do not change with the
//! load of the machine.

use std::time::{Duration, Instant};

use allocation_counter::AllocationInfo;
use futures::executor::block_on;
use futures::{StreamExt, stream};
use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_core::hook::Rewrite;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, ChatStream};
use hooks_agent_core::prelude::*;
use hooks_agent_rules::EgressGuard;
use serde_json::Value;

/// How long an answer is, in bytes.
const LENGTH: usize = 10 << 10;
/// How many URLs it has.
const URLS: usize = 20;
/// The bytes of a chunk: about a token.
const CHUNK: usize = 5;

/// The bytes of a private result.
const RESULT: usize = 4 << 10;

/// The runs of a case, of which the fastest counts.
const RUNS: usize = 200;

const SENTENCE: &str = "The harbour was built in three years, and the town grew around it. ";

/// Says a text in these chunks.
struct Says(Vec<String>);

impl ChatModel for Says {
    fn name(&self) -> &'static str {
        "says"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let chunks = self.0.clone().into_iter().map(|text| Ok(ChatChunk::Text(text)));
        let end = ChatChunk::end(Usage::new(1, 1));
        Box::pin(stream::iter(chunks.chain([Ok(end)])))
    }
}

/// An answer with URLs to this host, as far from each other as there is room for.
fn answer(host: Option<&str>) -> String {
    let url = host.map(|host| format!("![chart](https://{host}/charts/2024?of=harbour) "));
    let mut text = String::new();
    for part in 1..=URLS {
        text.extend(url.as_deref());
        while text.len() < LENGTH * part / URLS {
            text.push_str(SENTENCE);
        }
    }
    text.truncate(LENGTH);
    text
}

/// The guard of a case.
#[derive(Clone, Copy)]
enum Guard {
    None,
    /// What each rewriter costs.
    Rewrite,
    Egress,
    /// After private results of this length.
    Private(usize),
    Pii,
}

fn agent(guard: Guard, text: &str, chunk: usize) -> (ReActAgent, Messages) {
    let chunks = text.as_bytes().chunks(chunk);
    let chunks = chunks.map(|chunk| String::from_utf8_lossy(chunk).into_owned()).collect();
    let builder = ReActAgent::builder("bot").model(Says(chunks));
    let builder = match guard {
        Guard::None => builder,
        Guard::Rewrite => builder.hook(Rewrite::new(0, |_, _| None)),
        Guard::Egress => {
            let hosts = ["*.corp.example", "api.example"];
            builder.hook(EgressGuard::new(hosts).expect("they are hosts"))
        }
        Guard::Private(_) => {
            let guard =
                EgressGuard::new(["*.corp.example", "api.example"]).expect("they are hosts");
            builder.hook(guard.private_data(["read"]).expect("it is a glob"))
        }
        Guard::Pii => builder.hook(PiiDetection::all().output(true)),
    };
    let length = if let Guard::Private(length) = guard { length } else { 0 };
    (builder.build().expect("it has a model"), history(length))
}

/// A thread in which the agent has read private results of this length.
fn history(length: usize) -> Messages {
    let mut messages = Messages::from(vec![Msg::user("Read")]);
    for number in 0..length / RESULT {
        let call = ToolUse::new(number.to_string(), "read", Value::Null);
        let mut text = String::new();
        while text.len() < RESULT {
            let row = number * 100 + text.len();
            let number = row.to_string();
            let row = ["Customer ", &number, ": Petersson", &number, ", order AB-", &number];
            text.extend(row.into_iter().chain([", paid on Friday.\n"]));
        }
        let result = ToolResult::success(&call, text);
        messages.push(Msg::assistant("bot", "").with(ContentBlock::ToolUse(call)));
        messages.push(Msg::tool_result(result));
    }
    messages
}

/// Streams an answer to a caller, and returns how many bytes it read.
fn stream((agent, history): &(ReActAgent, Messages)) -> usize {
    agent.memory().replace(history.clone());
    block_on(async {
        let (mut stream, mut read) = (agent.stream("Go"), 0);
        while let Some(event) = stream.next().await {
            if let AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) =
                event.expect("nothing fails").kind
            {
                read += text.len();
            }
        }
        read
    })
}

/// Prints answers beside the first: the fastest of many runs, in which they take turns.
fn print(cases: &[(String, (ReActAgent, Messages))]) {
    let mut times = vec![Duration::MAX; cases.len()];
    for _ in 0..RUNS {
        for ((_, agent), fastest) in cases.iter().zip(&mut times) {
            let start = Instant::now();
            assert!(stream(agent) > LENGTH / 2);
            *fastest = (*fastest).min(start.elapsed());
        }
    }
    for ((case, agent), time) in cases.iter().zip(&times) {
        let counted = allocation_counter::measure(|| {
            stream(agent);
        });
        let AllocationInfo { count_total, bytes_total, .. } = counted;
        let over =
            time.saturating_sub(times[0]) * 1000 / u32::try_from(LENGTH).expect("it is short");
        let nanos = over.as_secs_f64() * 1e6;
        let ratio = time.as_secs_f64() / times[0].as_secs_f64();
        println!(
            "{case:<40} {time:>10.2?} {ratio:>6.2}x {nanos:>8.2} {count_total:>12} {bytes_total:>10}"
        );
    }
}

fn main() {
    let hosts = [
        ("no URL", None),
        ("20 URLs, listed", Some("wiki.corp.example")),
        ("20 URLs, removed", Some("evil.example")),
    ];
    let guards = [
        ("no guard", Guard::None),
        ("a rewriter", Guard::Rewrite),
        ("EgressGuard", Guard::Egress),
        ("after 16 KiB", Guard::Private(16 << 10)),
        ("after 256 KiB", Guard::Private(256 << 10)),
        ("PiiDetection", Guard::Pii),
    ];
    for chunk in [CHUNK, LENGTH] {
        println!(
            "{:<40} {:>10} {:>7} {:>8} {:>12} {:>10}",
            format!("10 KB in chunks of {chunk} bytes"),
            "time",
            "first",
            "ns/byte",
            "allocations",
            "bytes"
        );
        for (name, host) in hosts {
            let text = answer(host);
            let case =
                |(guard_name, guard)| (format!("{name}, {guard_name}"), agent(guard, &text, chunk));
            print(&guards.map(case));
        }
    }
}
