//! Runs that are kept: 100,000 of them, of 30 days, are listed, searched and summed.
//!
//! `cargo bench -p hooks-agent-sql-tests --bench runs` prints one line per case and store; PostgreSQL is the server on
//! loopback, where there is one. A run has a text of 2 kB, entries of 5 kB and 40 totals. The promise: a first page in
//! 50 ms, a search in 1 s, the sums of 30 days in 300 ms.

use std::fmt::Write;
use std::time::{Duration, Instant};

use hooks_agent_core::call::RunId;
use hooks_agent_core::store::{
    KeptRun, RunCursor, RunFilter, RunHistory, RunSums, RunTotal, StoreError,
};
use tokio::runtime::Runtime;

use places::{Place, places, runtime};

#[expect(dead_code, reason = "it is of other benches too")]
mod places;

const RUNS: u64 = 100_000;

/// How many runs are added at once.
const BATCH: u64 = 200;

/// How many words there are; the first ones are the most frequent.
const WORDS: u64 = 20_000;

/// How often a case is measured. The median counts.
const SAMPLES: usize = 9;

const DAY: u64 = 24 * RunSums::HOUR;

/// The first of the days: the begin of one in UTC.
const FIRST: u64 = 19_700 * DAY;

const LAST: u64 = FIRST + 30 * DAY;

/// Numbers that are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// Returns a word: those of small numbers are more frequent.
    fn word(&mut self) -> String {
        let (one, other) = (self.below(WORDS), self.below(WORDS));
        word(one * other / WORDS)
    }
}

/// Returns the word of a number.
fn word(number: u64) -> String {
    let letters = b"etaoinshrdlucmfwypvbgk";
    let letter = |place: u64| char::from(letters[usize::try_from(place % 22).unwrap_or(0)]);
    let (first, second) = (letter(number), letter(number / 22));
    format!("{first}{second}{}{number}", letter(number / 484))
}

fn totals(numbers: &mut Numbers, user: &str) -> Vec<RunTotal> {
    let mut totals = vec![RunTotal::new("run", "", "runs", 1)];
    let named = [("agent", 5), ("user", 50), ("model", 4), ("tool", 12), ("hook", 15)];
    for (kind, count) in named {
        let name = match kind {
            RunTotal::USER => user.to_owned(),
            kind => format!("{kind} {}", numbers.below(count)),
        };
        for metric in ["runs", "failed", "input", "output", "cost", "us"] {
            totals.push(RunTotal::new(kind, &*name, metric, 1 + numbers.below(1000)));
        }
        let bucket = format!("h{}", numbers.below(24));
        totals.push(RunTotal::new(kind, &*name, bucket, 1));
    }
    let bucket = |numbers: &mut Numbers| format!("h{}", numbers.below(24));
    for kind in ["ms:run", "ms:model", "ms:tool", "ms:hook"] {
        totals.push(RunTotal::new(kind, "", bucket(numbers), 1));
    }
    totals
}

fn run(number: u64, numbers: &mut Numbers) -> KeptRun {
    let id = RunId::named(&number.to_string());
    let started = FIRST + number * (30 * DAY / RUNS);
    let mut run = KeptRun::new(id, format!("agent {}", number % 5), format!("{number}"), started);
    let user = format!("user {}", numbers.below(50));
    run.state = if number.is_multiple_of(100) { "failed".into() } else { "finished".into() };
    run.ended = Some(started + 1000);
    run.summary =
        format!(r#"{{"run":"{id}","tokens":{number},"title":"{}"}}"#, "title ".repeat(30));
    while run.text.len() < 2000 {
        let _ = write!(run.text, "{} ", numbers.word());
    }
    run.entries.clear();
    while run.entries.len() < 5000 {
        let at = numbers.below(u64::MAX);
        let _ = write!(run.entries, r#"{{"at":{at},"kind":"model","text":"{}"}},"#, numbers.word());
    }
    run.entries = format!("[{}0]", run.entries);
    run.totals = totals(numbers, &user);
    run.user = Some(user.into());
    run
}

async fn fill(history: &dyn RunHistory) -> Result<(), StoreError> {
    let mut numbers = Numbers(1);
    for first in (0..RUNS).step_by(usize::try_from(BATCH).unwrap_or(usize::MAX)) {
        let added = (first..first + BATCH).map(|number| run(number, &mut numbers)).collect();
        history.add(added).await?;
    }
    Ok(())
}

/// Prints the median time of a case, with its promise and how many rows it returned.
fn print(place: &Place, case: &str, promise: Option<u64>, mut measure: impl FnMut() -> usize) {
    let mut rows = 0;
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..SAMPLES {
        let start = Instant::now();
        rows = measure();
        times.push(start.elapsed());
    }
    let median = *times.select_nth_unstable(SAMPLES / 2).1;
    let promise = promise.map_or_else(|| "-".to_owned(), |most| format!("{most} ms"));
    println!("{:<11} {case:<44} {median:>10.2?} {promise:>8} {rows:>8}", place.name);
}

fn lists(place: &Place, runtime: &Runtime, history: &dyn RunHistory) {
    let middle = RunId::named(&(RUNS / 2).to_string());
    let middle = RunCursor { started: FIRST + 15 * DAY, run: middle };
    for (case, filter) in [
        ("the first page of all", RunFilter::all()),
        ("a page in the middle", RunFilter::all().before(middle)),
        ("the first page of an agent", RunFilter::all().agent("agent 3")),
        ("the first page of a user", RunFilter::all().user("user 3")),
        ("the first page of a state", RunFilter::all().state("failed")),
        ("the first page of an agent, a user, a state", {
            RunFilter::all().agent("agent 3").user("user 3").state("finished")
        }),
    ] {
        print(place, case, Some(50), || {
            runtime.block_on(history.list(filter.clone())).expect("it answers").summaries.len()
        });
    }
    for (case, words) in [
        ("a search of a rare word", word(19_900)),
        ("a search of a frequent word", word(0)),
        ("a search of one letter", "e".to_owned()),
        ("a search of three words of two letters", "to ha ri".to_owned()),
        ("a search of a word that is nowhere", "zzzz".to_owned()),
        ("a search of a frequent and a rare word", format!("e {}", word(19_900))),
    ] {
        print(place, case, Some(1000), || {
            let filter = RunFilter::all().words(&*words);
            runtime.block_on(history.list(filter)).expect("it answers").summaries.len()
        });
    }
}

fn sums(place: &Place, runtime: &Runtime, history: &dyn RunHistory) {
    for (case, sums) in [
        ("sums of 30 days by days", RunSums::new(FIRST, LAST).step(DAY)),
        ("  until some hour", RunSums::new(FIRST, LAST - RunSums::HOUR).step(DAY)),
        ("  of another time zone", RunSums::new(FIRST + RunSums::HOUR, LAST).step(DAY)),
        ("  of models", RunSums::new(FIRST, LAST).step(DAY).kind("model")),
        ("sums of models by hours", RunSums::new(FIRST, LAST).kind("model")),
    ] {
        print(place, case, Some(300), || {
            runtime.block_on(history.totals(sums.clone())).expect("it answers").len()
        });
    }
    print(place, "sums of all by hours", None, || {
        runtime.block_on(history.totals(RunSums::new(FIRST, LAST))).expect("it answers").len()
    });
}

fn main() {
    let runtime = runtime();
    let places = runtime.block_on(places());
    println!("{RUNS} runs {:>59} {:>8} {:>8}", "time", "promise", "rows");
    for place in &places {
        let Some(history) = place.store.run_history() else { continue };
        let start = Instant::now();
        runtime.block_on(fill(history)).expect("the runs are added");
        let each = start.elapsed() / u32::try_from(RUNS).expect("it is small");
        println!("{:<11} {:<44} {each:>10.2?}", place.name, "a run is added, of 200 at once");
        runtime.block_on(place.sql(&["ANALYZE".to_owned()]));
        lists(place, &runtime, history);
        sums(place, &runtime, history);
        let start = Instant::now();
        let before = FIRST + DAY;
        let pruned = runtime.block_on(history.prune_runs(before)).expect("it prunes");
        let each = start.elapsed() / u32::try_from(pruned).expect("it is small").max(1);
        println!("{:<11} {:<44} {each:>10.2?}", place.name, "a run is pruned");
    }
    for place in places {
        runtime.block_on(place.remove());
    }
}
