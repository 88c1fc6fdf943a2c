//! Processes that share quotas, and are killed at random times.

use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use futures::future::join_all;
use hooks_agent_core::message::Usage;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Filter, Store, StoreError, Window};
use hooks_agent_rules::{Per, Quota, Quotas};
use hooks_fixtures::tell;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kills::process::Process;
use crate::kills::tasks::{LEASE, append};
use crate::kills::worker::{self, Place};
use crate::open::open;

const PROCESSES: usize = 8;

/// How many processes are killed; `HOOKS_KILLS` says otherwise.
const KILLS: usize = 48;

/// How many calls of each tool there are for all.
const MOST: u64 = 60;

/// How many tasks each process does in the end: together they ask for more than there is.
const TASKS: usize = 30;

/// A process lives at most this long after it has begun.
const LONGEST_LIFE: Duration = Duration::from_millis(600);

/// The calls of a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    place: Place,
    process: usize,
    /// How many tasks it does; for ever, if it is killed.
    tasks: Option<usize>,
}

impl Job {
    fn file(place: &Place, what: &str) -> std::path::PathBuf {
        place.folder.join(what)
    }
}

fn hour() -> Window {
    Window::Sliding(Duration::from_hours(1))
}

/// Makes calls of two tools, of which one may start again, until it is killed or has done its tasks.
pub(crate) async fn work(job: Job) {
    let store = open(&job.place.address, LEASE).await;
    let tool = |name: &'static str| {
        let file = Job::file(&job.place, name);
        FunctionTool::with_context(name, "Spends.", move |_: Value, cx: ToolContext| {
            append(&file, &cx.idempotency_key());
            std::future::ready("spent")
        })
    };
    let model = ScriptedModel::new("script", |request| {
        let spend = |name| ContentBlock::ToolUse(ToolUse::new(name, name, json!({})));
        let answer: ScriptedAnswer = if request.last_text().starts_with("task") {
            ["once", "again"].map(spend).to_vec().into()
        } else {
            "done".into()
        };
        answer.costing(Usage::new(10, 5))
    });
    let reported = Job::file(&job.place, "reported");
    let report = on(move |event: &mut PostReasoning<'_>| {
        if let Some(usage) = event.message().usage {
            append(&reported, &usage.total_tokens().to_string());
        }
    });
    let hour = Duration::from_hours(1);
    let quotas = Quotas::builder()
        .quota(Quota::tool_calls("spending", MOST).per(Per::Tool).within(hour))
        .quota(Quota::tokens("tokens", u64::MAX).within(hour));
    let agent = ReActAgent::builder("clerk")
        .model(model)
        .tool(tool("once"))
        .tool(tool("again").idempotent())
        .hook(quotas.build().unwrap())
        .hook(report)
        .max_cut_offs(u32::MAX)
        .store(store.clone())
        .build()
        .unwrap();
    println!("ready");
    let thread = format!("thread-{}", job.process);
    let of_thread = || Filter::agent("clerk").thread(&*thread);
    let mut done = 0;
    while job.tasks.is_none_or(|tasks| done < tasks) {
        let on = CallOptions::new().thread(&*thread);
        let info = store.threads(of_thread()).await.unwrap();
        let reply = if info.iter().any(|info| info.in_call) {
            agent.resume(on).await
        } else {
            agent.call_with(on, "task").await
        };
        match reply {
            Ok(_) => done += 1,
            // A busy machine does not renew a lease that is so short. The thread goes on.
            Err(AgentError::Store(StoreError::LeaseLost { .. }) | AgentError::Input(_)) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Kills a process that works again and again.
async fn kill(place: &Place, process: usize, kills: usize) {
    let job = Job { place: place.clone(), process, tasks: None };
    for number in 0..kills {
        let mut worker = Process::start(&worker::Job::Spending(job.clone()));
        worker.says("ready").await.expect("it works until it is killed");
        let life = RandomState::new().hash_one(number) % 1000;
        let life = LONGEST_LIFE * u32::try_from(life).unwrap() / 1000;
        let ended = tokio::time::timeout(life, worker.says("never")).await;
        assert!(ended.is_err(), "it works until it is killed");
        worker.kill().await;
    }
}

async fn used(store: &dyn Store, quota: &str, subject: &str) -> u64 {
    let uses = store.quota_uses(quota, &hour()).await.unwrap();
    uses.iter().find(|it| *it.subject == *subject).map_or(0, |it| it.amount)
}

async fn quotas_hold_over_processes_that_are_killed(place: &Place) {
    let kills = std::env::var("HOOKS_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let store = open(&place.address, LEASE).await;
    join_all((0..PROCESSES).map(|it| kill(place, it, kills.div_ceil(PROCESSES)))).await;
    let counted =
        [used(&*store, "spending", "once").await, used(&*store, "spending", "again").await];

    // All of them go on with what was cut off, and ask for more than there is.
    let jobs = (0..PROCESSES).map(|process| {
        let job = Job { place: place.clone(), process, tasks: Some(TASKS) };
        Process::start(&worker::Job::Spending(job)).ended()
    });
    for ended in join_all(jobs).await {
        assert!(ended.success());
    }

    let mut told = Vec::new();
    for tool in ["once", "again"] {
        let lines = read_to_string(Job::file(place, tool)).unwrap_or_default();
        let ran: Vec<_> = lines.lines().collect();
        let keys: BTreeSet<_> = ran.iter().collect();
        let counted = used(&*store, "spending", tool).await;
        told.push(format!("{tool}: {} runs of {} calls, {counted} counted", ran.len(), keys.len()));
        assert_eq!(counted, MOST, "all of it was asked for, and none counted twice");
        assert!(keys.len() as u64 <= MOST, "no call too many: {}", keys.len());
        if tool == "once" {
            assert_eq!(ran.len(), keys.len(), "no call ran twice");
        }
    }
    let reported = read_to_string(Job::file(place, "reported")).unwrap_or_default();
    let reported: u64 = reported.lines().map(|line| line.parse::<u64>().unwrap()).sum();
    let tokens = used(&*store, "tokens", "all").await;
    tell(format!(
        "{kills} kills, {counted:?} counted before: {told:?}; {reported} tokens of {tokens}"
    ));
    assert!(tokens >= reported, "{tokens} tokens are counted, and {reported} were reported");
}

on_each!(quotas_hold_over_processes_that_are_killed);
