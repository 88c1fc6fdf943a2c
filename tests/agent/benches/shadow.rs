//! The cost of hooks in shadow: a turn with one and with ten of them, beside the same turn without hooks and with the
//! same hooks enforced, on a new thread and on a long one.
//!
//! `cargo bench -p hooks-agent-core-tests --bench shadow` prints one line per case. The promise: a call copies what
//! its hooks in shadow see, and does not wait for them. `time` is what the caller waits for, on a runtime of one
//! thread, where the hooks have their turn when the call has ended; `beside` is what they take then. The
//! allocations are those of the call, without those beside it. What a long thread adds is in its bytes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use allocation_counter::AllocationInfo;
use hooks_agent_core::hook::Shadowed;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_fixtures::scripted_agents::Immediate;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

/// The runs of a case, of which the fastest counts.
const RUNS: usize = 300;
/// The turns of a run. Each adds four messages: a thread stays about as long as it is said to be.
const TURNS: u32 = 20;

/// Wants every event and waits for nothing.
struct Looks;

impl AgentHook for Looks {
    fn sync_events(&self) -> EventMask {
        EventMask::ALL
    }

    fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        black_box(event);
        Ok(Flow::Continue)
    }
}

/// An agent on a thread of this many messages, and its hooks in shadow.
struct Case {
    agent: ReActAgent,
    shadows: Vec<Shadowed>,
    before: usize,
}

impl Case {
    fn new(before: usize, hooks: usize, in_shadow: bool) -> Self {
        let look = FunctionTool::new("look", "Looks.", async |_: Value| "nothing to see");
        let builder = ReActAgent::builder("bot").model(Immediate).tool(look);
        let shadows = if in_shadow { hooks } else { 0 };
        let shadows: Vec<_> = (0..shadows).map(|_| Looks.in_shadow()).collect();
        let builder = (shadows.len()..hooks).fold(builder, |builder, _| builder.hook(Looks));
        let builder = shadows.iter().cloned().fold(builder, ReActAgentBuilder::hook);
        Self { agent: builder.build().expect("it has a model"), shadows, before }
    }

    /// Makes the thread as long as it was.
    fn rewind(&self) {
        self.agent.memory().clear();
        for number in 0..self.before {
            let (said, answered) = (Msg::user("hi"), Msg::assistant("bot", "done"));
            self.agent.memory().add(if number % 2 == 0 { said } else { answered });
        }
    }

    /// A question, a tool call, an answer.
    async fn turn(&self) {
        let reply = self.agent.call("hi").await.expect("nothing fails");
        assert_eq!(reply.content.len(), 1);
    }

    async fn caught_up(&self) {
        for shadow in &self.shadows {
            shadow.caught_up().await;
        }
    }
}

/// What a caller waits for in a turn, and what runs beside that, of several turns.
fn times(runtime: &Runtime, case: &Case) -> (Duration, Duration) {
    case.rewind();
    // The first turn pays for what the allocator does with the thread before.
    runtime.block_on(case.turn());
    runtime.block_on(case.caught_up());
    let (mut call, mut beside) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..TURNS {
        let start = Instant::now();
        runtime.block_on(case.turn());
        let ended = Instant::now();
        runtime.block_on(case.caught_up());
        call += ended - start;
        beside += ended.elapsed();
    }
    (call / TURNS, beside / TURNS)
}

/// The allocations of one turn, once the agent is warm.
fn allocations(runtime: &Runtime, case: &Case) -> AllocationInfo {
    case.rewind();
    for _ in 0..3 {
        runtime.block_on(case.turn());
        runtime.block_on(case.caught_up());
    }
    let counted = allocation_counter::measure(|| runtime.block_on(case.turn()));
    runtime.block_on(case.caught_up());
    counted
}

/// Prints cases beside the first: the fastest of many runs, in which they take turns.
fn print(runtime: &Runtime, cases: &[(String, Case)]) {
    let mut fastest = vec![(Duration::MAX, Duration::MAX); cases.len()];
    for _ in 0..RUNS {
        for ((_, case), (call, beside)) in cases.iter().zip(&mut fastest) {
            let times = times(runtime, case);
            (*call, *beside) = (times.0.min(*call), times.1.min(*beside));
        }
    }
    for ((name, case), (call, beside)) in cases.iter().zip(&fastest) {
        let AllocationInfo { count_total, bytes_total, .. } = allocations(runtime, case);
        let ratio = call.as_secs_f64() / fastest[0].0.as_secs_f64();
        println!(
            "{name:<28} {call:>10.2?} {ratio:>6.2}x {beside:>10.2?} {count_total:>12} {bytes_total:>10}"
        );
        let dropped: u64 = case.shadows.iter().map(|shadow| shadow.counts().dropped).sum();
        assert_eq!(dropped, 0, "each hook has seen every event");
    }
}

fn main() {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    for before in [0, 10_000] {
        println!(
            "{:<28} {:>10} {:>7} {:>10} {:>12} {:>10}",
            format!("a turn after {before} messages"),
            "time",
            "first",
            "beside",
            "allocations",
            "bytes"
        );
        let mut cases = vec![("without hooks".to_owned(), Case::new(before, 0, false))];
        for hooks in [1, 10] {
            for (kind, in_shadow) in [("enforced", false), ("in shadow", true)] {
                cases.push((format!("{hooks} {kind}"), Case::new(before, hooks, in_shadow)));
            }
        }
        print(&runtime, &cases);
    }
}
