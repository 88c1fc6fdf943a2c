//! The cost of a quota: a turn with one tool call that has a quota beside the same turn without, and a reservation
//! beside others of the same subject.
//!
//! `cargo bench -p hooks-agent-sql-tests --bench quotas` prints one line per case and store; PostgreSQL is the server on
//! loopback, where there is one. The promise: what a tool call reserves is part of the step that marks it as started, so
//! that a quota costs no commit of its own; a tool that only reads has no such step without one. A reservation in a
//! database costs about the same beside ten uses and beside 100,000. The allocations and the
//! commits of a file do not change with the load of the machine.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Reservation, Window};
use hooks_agent_rules::{Per, Quota, Quotas};
use serde_json::Value;
use tokio::runtime::Runtime;

use places::{Place, payer, places, print_head, runtime};

mod places;

const HOUR: Duration = Duration::from_hours(1);

/// How many uses are in the window of a quota.
const USES: [u32; 3] = [10, 10_000, 100_000];

/// The most that a store in a process is filled with: it adds up all of them for each.
const MOST_IN_PROCESS: u32 = 10_000;

/// How often a reservation is measured.
const SAMPLES: usize = 31;

fn turns(place: &Place, runtime: &Runtime) {
    let tool = || FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    // Each thread has ten turns, so that the sum has ten uses at most.
    let quota = || Quota::tool_calls("payments", 1_000_000).per(Per::Thread).within(HOUR);
    let quotas = || Quotas::builder().quota(quota()).build().expect("the quota is valid");
    let agent = |tool: FunctionTool| payer(place.store.clone()).tool(tool);
    let (once, again) = (agent(tool()), agent(tool().idempotent()));
    let count = if place.name == "Memory" { 2000 } else { 100 };
    for (names, agent) in [
        (["a tool that may not start again, no quota", "  with a quota"], once),
        (["a tool that may start again, no quota", "  with a quota"], again),
    ] {
        let with = agent.clone().hook(quotas()).build().expect("it has a model");
        let without = agent.build().expect("it has a model");
        place.print_turns(runtime, count, &[(names[0], &without), (names[1], &with)]);
    }
}

fn one(quota: &str, key: impl Into<String>) -> Reservation {
    let window = Window::Sliding(HOUR);
    Reservation::new(quota, "ada", 1, 1_000_000, window).with_key(key.into())
}

/// Fills a quota with uses of the last fifty minutes.
async fn fill(place: &Place, quota: &str, uses: u32) {
    if place.name == "Memory" {
        for index in 0..uses {
            let filled = place.store.reserve(vec![one(quota, format!("used {index}"))]).await;
            filled.expect("there is room");
        }
        return;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_millis();
    let (apart, hour) = (3_000_000 / uses, HOUR.as_millis());
    // Keys are as long as those of tool calls.
    let insert = format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {uses})
        INSERT INTO quota_use (namespace, quota, subject, key, amount, at, expires)
        SELECT 'default', '{quota}', 'ada',
            '2f1c9c1e-6d0b-4e7e-9d59-0d6f1c1b8a10@7c8a2f34-5f0e-4ad0-8f0e-' || (100000000000 + i),
            1, {now} - i * {apart}, {now} - i * {apart} + {hour} FROM n"
    );
    place.sql(&[insert, "ANALYZE quota_use".to_owned()]).await;
    if place.name == "PostgreSQL" {
        place.sql(&["VACUUM quota_use".to_owned()]).await;
    }
}

/// The median time of a reservation beside the uses of several quotas, in turns.
fn sums(place: &Place, runtime: &Runtime) {
    let sizes = USES.into_iter().filter(|uses| place.name != "Memory" || *uses <= MOST_IN_PROCESS);
    let quotas: Vec<_> = sizes.map(|uses| (uses, format!("quota of {uses}"))).collect();
    for (uses, quota) in &quotas {
        runtime.block_on(fill(place, quota, *uses));
    }
    let mut times = vec![Vec::new(); quotas.len()];
    for sample in 0..SAMPLES {
        for ((_, quota), times) in quotas.iter().zip(&mut times) {
            let wanted = vec![one(quota, format!("new {sample}"))];
            let start = Instant::now();
            runtime.block_on(place.store.reserve(wanted)).expect("there is room");
            times.push(start.elapsed());
        }
    }
    let times: Vec<_> =
        times.iter_mut().map(|times| *times.select_nth_unstable(SAMPLES / 2).1).collect();
    for ((uses, _), time) in quotas.iter().zip(&times) {
        let ratio = time.as_secs_f64() / times[0].as_secs_f64();
        println!("{:<11} beside {uses:>7} uses {time:>33.2?} {ratio:>6.1}x", place.name);
    }
}

fn main() {
    let runtime = runtime();
    let places = runtime.block_on(places());
    print_head("a turn: 2 model calls, 1 tool");
    for place in &places {
        turns(place, &runtime);
    }
    println!("\na reservation: `Store::reserve` of one use");
    for place in &places {
        sums(place, &runtime);
    }
    for place in places {
        runtime.block_on(place.remove());
    }
}
