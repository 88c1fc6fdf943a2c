//! The cost of `Provenance`, by how much was read before.
//!
//! `cargo bench -p hooks-agent-rules-tests --bench provenance` prints one line for each size, on one core: what the first
//! traced call costs more than without the guard, by byte that was read, beside a pass of `memchr` over the same text; what
//! it holds, by byte; what each further traced call costs, which looks for one value twice; and what one look costs more than
//! after a short text. The promises: at most 8 bytes for a byte, and at most 20 µs a look at 100 KB and 1 ms at 10 MB. The bytes do not change with the load of the machine.

use std::hint::black_box;
use std::time::{Duration, Instant};

use allocation_counter::AllocationInfo;
use futures::executor::block_on;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_rules::{Provenance, Sink};
use serde_json::{Value, json};

const SIZES: [usize; 5] = [1 << 10, 10 << 10, 100 << 10, 1 << 20, 10 << 20];

/// The most bytes of a result.
const RESULT: usize = 256 << 10;

/// The runs of a case, of which the fastest counts.
const RUNS: usize = 7;

/// How many calls follow the first one.
const MORE: u32 = 10;

const SENTENCE: &str =
    "The harbour was built in three years, and the town grew around it, said Ann. ";

/// What is read.
#[derive(Clone, Copy)]
enum Text {
    Prose,
    Records,
    /// Letters of other scripts.
    Mixed,
}

fn text(kind: Text, size: usize) -> String {
    let mut text = String::new();
    match kind {
        Text::Prose => {
            while text.len() < size {
                text.push_str(SENTENCE);
            }
            text.truncate(size);
        }
        Text::Mixed => {
            while text.len() < size {
                text.push_str(
                    "Der Hafen wurde in drei Jahren gebaut – über Nacht wuchs die Stadt. ",
                );
            }
        }
        Text::Records => {
            let mut rows = Vec::new();
            while rows.len() * 80 < size {
                let number = rows.len();
                rows.push(json!({ "id": number + 1000, "name": format!("file {number}.txt"), "note": "nothing new" }));
            }
            text = Value::from(rows).to_string();
        }
    }
    text
}

fn guard() -> Provenance {
    let sink = Sink::new().destination(["to"]).content(["note"]);
    Provenance::new().untrusted(["read"]).unwrap().sink("pay", sink).unwrap()
}

/// Reads a text, and makes some payments after it.
fn run(text: &str, has_guard: bool, payments: u32) -> Duration {
    let mut script = Script::new();
    let mut read = Calls::new("read");
    // A longer result is cut by the agent.
    for (number, part) in text.as_bytes().chunks(RESULT).enumerate() {
        script = script.calls([ToolUse::new(format!("r{number}"), "read", json!({}))]);
        read = read.answers(String::from_utf8_lossy(part).into_owned());
    }
    let rounds = text.len() / RESULT + payments as usize + 4;
    let mut tool = Calls::new("pay");
    for number in 0..payments {
        let args =
            json!({ "to": "DE02120300000000202051", "note": "the rent of May", "of": number });
        script = script.calls([ToolUse::new(format!("p{number}"), "pay", args)]);
        tool = tool.answers("paid");
    }
    let mut builder = ReActAgent::builder("bot").model(script.says("Paid.")).tool(read).tool(tool);
    if has_guard {
        builder = builder.hook(guard());
    }
    let agent = builder.max_iters(rounds).build().expect("it has a model");
    let start = Instant::now();
    let reply =
        block_on(agent.call("Pay the rent to DE02 1203 0000 0000 2020 51")).expect("it pays");
    let elapsed = start.elapsed();
    assert_eq!(reply.text(), "Paid.");
    elapsed
}

fn fastest(mut run: impl FnMut() -> Duration) -> Duration {
    (0..RUNS).map(|_| run()).min().unwrap_or_default()
}

fn held(text: &str, has_guard: bool) -> AllocationInfo {
    allocation_counter::measure(|| {
        black_box(run(text, has_guard, 1));
    })
}

fn main() {
    println!(
        "{:8} {:>9} {:>9} {:>8} {:>8} {:>9} {:>9}",
        "text", "bytes", "ns/byte", "memchr", "held", "µs/call", "µs/look"
    );
    for (name, kind) in [("prose", Text::Prose), ("records", Text::Records), ("mixed", Text::Mixed)]
    {
        let mut short = None;
        for size in SIZES {
            let text = text(kind, size);
            let (plain, first) =
                (fastest(|| run(&text, false, 1)), fastest(|| run(&text, true, 1)));
            let (many_plain, many) =
                (fastest(|| run(&text, false, 1 + MORE)), fastest(|| run(&text, true, 1 + MORE)));
            let pass = fastest(|| {
                let start = Instant::now();
                black_box(memchr::memchr(b'\0', black_box(text.as_bytes())));
                start.elapsed()
            });
            let more = first.saturating_sub(plain);
            let each = (many.saturating_sub(many_plain)).saturating_sub(more) / MORE;
            let (own, without) = (held(&text, true).bytes_max, held(&text, false).bytes_max);
            #[expect(clippy::cast_precision_loss, reason = "they are small enough")]
            let per_byte = |value: u64| value as f64 / text.len() as f64;
            println!(
                "{name:8} {:>9} {:>9.3} {:>8.3} {:>8.2} {:>9.1} {:>9.1}",
                text.len(),
                per_byte(u64::try_from(more.as_nanos()).unwrap_or(u64::MAX)),
                per_byte(u64::try_from(pass.as_nanos()).unwrap_or(u64::MAX)),
                per_byte(own.saturating_sub(without)),
                each.as_secs_f64() * 1e6,
                each.saturating_sub(*short.get_or_insert(each)).as_secs_f64() * 1e6 / 2.0
            );
        }
    }
}
