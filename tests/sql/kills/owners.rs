//! Many processes call one agent on the same threads.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::future::join_all;
use hooks_agent_core::error::InputError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Acquired, StoreError, ThreadKey};
use hooks_fixtures::tell;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kills::process::Process;
use crate::kills::tasks::append;
use crate::kills::worker::{self, Place};
use crate::open::{messages, open};
use crate::watched::{Moment, Operation, Watch, Watched};

const AGENT: &str = "host";
const PROCESSES: usize = 8;
const THREADS: usize = 50;

/// How many calls there are; `HOOKS_CALLS` says otherwise.
const CALLS: usize = 304;

/// Longer than a busy machine delays a renewal.
const LEASE: Duration = Duration::from_secs(20);

/// How many calls a process runs at once.
const AT_ONCE: usize = 4;

/// The calls of a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    place: Place,
    process: usize,
    calls: usize,
}

/// Counts requests for a lease that were refused, and takeovers.
#[derive(Default)]
struct Counts {
    busy: AtomicUsize,
    takeovers: AtomicUsize,
}

impl Watch for Counts {
    fn hear(&self, _: Operation, _: usize, _: Moment) -> Result<(), StoreError> {
        Ok(())
    }

    fn acquired(&self, acquired: &Acquired) {
        let counted = match acquired {
            Acquired::Busy => &self.busy,
            Acquired::Granted { is_takeover: true, .. } => &self.takeovers,
            Acquired::Granted { .. } | Acquired::OtherUser => return,
        };
        counted.fetch_add(1, Ordering::Relaxed);
    }
}

/// Makes the calls of a process.
pub(crate) async fn work(job: Job) {
    let counts = Arc::new(Counts::default());
    let store = Watched::new(open(&job.place.address, LEASE).await, counts.clone());
    let folder = job.place.folder.clone();
    let visit = FunctionTool::with_context(
        "visit",
        "Enters and leaves.",
        move |_: Value, cx: ToolContext| {
            let file = folder.join(cx.call().thread_id());
            async move {
                let visitor = cx.idempotency_key();
                append(&file, &format!("enter {visitor}"));
                for _ in 0..3 {
                    tokio::task::yield_now().await;
                }
                append(&file, &format!("leave {visitor}"));
                "left"
            }
        },
    );
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => "bye".into(),
            None => ToolUse::new("1", "visit", json!({})).into(),
        }
    });
    let agent = ReActAgent::builder(AGENT).model(model).tool(visit).store(store).build().unwrap();
    let call = |number: usize| {
        let (agent, thread) = (&agent, (job.process * 7 + number * 13) % THREADS);
        let on = CallOptions::new().thread(format!("thread-{thread}"));
        async move { agent.call_with(on, format!("{}-{number}", job.process)).await }
    };
    let calls = futures::stream::iter((0..job.calls).map(call)).buffer_unordered(AT_ONCE);
    calls.for_each(async |reply| assert_eq!(reply.unwrap().text(), "bye")).await;
    let (busy, takeovers) = (&counts.busy, &counts.takeovers);
    println!("counts {} {}", busy.load(Ordering::Relaxed), takeovers.load(Ordering::Relaxed));
}

async fn run(job: Job) -> [usize; 2] {
    let mut process = Process::start(&worker::Job::Visits(job));
    let counts = process.says("counts ").await.expect("the process made all of its calls");
    assert!(process.ended().await.success());
    let mut counts = counts.split(' ').map(|count| count.parse().unwrap());
    [counts.next().unwrap(), counts.next().unwrap()]
}

async fn ds_09_a_thread_has_one_owner_at_a_time_among_many_processes(place: &Place) {
    let calls: usize = std::env::var("HOOKS_CALLS").map_or(CALLS, |calls| calls.parse().unwrap());
    let store = open(&place.address, LEASE).await;
    let started = Instant::now();
    let jobs = (0..PROCESSES).map(|process| {
        let calls = calls / PROCESSES + usize::from(process < calls % PROCESSES);
        Job { place: place.clone(), process, calls }
    });
    let counts = join_all(jobs.map(run)).await;
    let took = started.elapsed();

    let mut asked = HashSet::new();
    let mut visits = 0;
    for thread in (0..THREADS).map(|thread| format!("thread-{thread}")) {
        let lines = std::fs::read_to_string(place.folder.join(&thread)).unwrap_or_default();
        let lines: Vec<_> = lines.lines().map(|line| line.split_once(' ').unwrap()).collect();
        for visit in lines.chunks(2) {
            let [("enter", entered), ("leave", left)] = visit else {
                panic!("{thread}: {lines:?}")
            };
            assert_eq!(entered, left, "one owner at a time on {thread}: {lines:?}");
            visits += 1;
        }
        let messages = messages(&*store, &ThreadKey::new(AGENT, &*thread).unwrap()).await;
        InputError::check_history(&messages).unwrap();
        assert_eq!(messages.len(), 2 * lines.len(), "four messages for each visit");
        let texts = messages.iter().filter(|msg| msg.role == Role::User).map(Msg::text);
        for text in texts.filter(|text| !text.is_empty()) {
            assert!(asked.insert(text.clone()), "`{text}` was admitted twice");
        }
    }
    assert_eq!((asked.len(), visits), (calls, calls));
    let sum = counts.iter().fold(BTreeMap::new(), |mut sum, [busy, takeovers]| {
        *sum.entry("busy").or_insert(0) += busy;
        *sum.entry("takeovers").or_insert(0) += takeovers;
        sum
    });
    tell(format!("{PROCESSES} processes, {THREADS} threads, {calls} calls: {sum:?} in {took:?}"));
    assert_eq!(sum["takeovers"], 0);
}

on_each!(ds_09_a_thread_has_one_owner_at_a_time_among_many_processes);
