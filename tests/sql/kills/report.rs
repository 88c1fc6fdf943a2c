//! Checks and counts the results of killed processes.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use hooks_agent_core::error::InputError;
use hooks_agent_core::message::{Msg, Role, ToolResult};
use hooks_agent_core::store::{Filter, Store};

use crate::kills::tasks::{AGENT, Job};
use crate::open::messages;

const UNKNOWN: &str = "the outcome of this call is unknown: the process ended while it ran";

/// What happened on one or more threads.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) kills: usize,
    /// How many processes went on with a call of a killed one.
    pub(crate) takeovers: usize,
    /// How many times an idempotent tool ran again.
    pub(crate) repeated: usize,
    /// How many tool calls have an unknown outcome.
    pub(crate) unknown: usize,
    pub(crate) tasks: usize,
    /// The effects of tools that are not idempotent.
    pub(crate) effects: usize,
}

impl Report {
    pub(crate) fn add(&mut self, other: &Self) {
        self.kills += other.kills;
        self.takeovers += other.takeovers;
        self.repeated += other.repeated;
        self.unknown += other.unknown;
        self.tasks += other.tasks;
        self.effects += other.effects;
    }
}

/// Checks a thread after its last process ended.
pub(crate) async fn check(store: &dyn Store, job: &Job) -> Report {
    let messages = messages(store, &job.key()).await;
    let context = || format!("{job:?}: {messages:#?}");
    InputError::check_history(&messages).unwrap_or_else(|error| panic!("{error}: {}", context()));

    let asked = messages.iter().filter(|msg| msg.role == Role::User && !msg.text().is_empty());
    let asked: Vec<_> = asked.map(Msg::text).collect();
    let expected: Vec<_> = (0..job.tasks).map(|task| format!("task {task}")).collect();
    assert_eq!(asked, expected, "each task once: {}", context());
    let last = messages.last().unwrap().text();
    assert_eq!(last, format!("done task {}", job.tasks - 1), "{}", context());

    let calls: Vec<_> = messages.iter().flat_map(Msg::tool_uses).collect();
    let results: Vec<_> = messages.iter().flat_map(Msg::tool_results).collect();
    assert_eq!((calls.len(), results.len()), (4 * job.tasks, 4 * job.tasks), "{}", context());
    let mut report = Report { tasks: job.tasks, ..Report::default() };
    let effects = lines(&job.file("append"));
    let notes = lines(&job.file("note"));
    report.effects = effects.len();
    for result in results {
        check_result(result, &effects, &notes, &mut report);
    }
    let mut keys = HashSet::new();
    for (id, lines) in effects.iter().chain(&notes) {
        let once: HashSet<_> = lines.iter().collect();
        assert_eq!(once.len(), 1, "`{id}` has one key: {lines:?}");
        assert!(keys.insert(&lines[0]), "the key of `{id}` is of another tool call");
    }
    report.takeovers = lines(&job.file("takeovers")).values().map(Vec::len).sum();
    let thread = store.threads(Filter::agent(AGENT).thread(&*job.thread)).await.unwrap();
    assert!(!thread[0].in_call, "the run has ended");
    report
}

fn check_result(result: &ToolResult, effects: &Lines, notes: &Lines, report: &mut Report) {
    let ran = |lines: &Lines| lines.get(&result.id).map_or(0, Vec::len);
    let (effects, notes) = (ran(effects), ran(notes));
    match (&*result.name, result.output.as_str()) {
        ("append", "written") => assert_eq!(effects, 1, "{result:?}"),
        ("append", UNKNOWN) => {
            assert!(effects <= 1, "{result:?}");
            report.unknown += 1;
        }
        ("note", "written") => {
            assert!(notes >= 1, "{result:?}");
            report.repeated += notes - 1;
        }
        _ => panic!("{result:?}, effects: {effects}, notes: {notes}"),
    }
}

/// The second words of the lines of a file, by the first.
type Lines = HashMap<String, Vec<String>>;

fn lines(path: &Path) -> Lines {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut lines = Lines::new();
    for line in text.lines() {
        let (first, second) = line.split_once(' ').unwrap_or((line, ""));
        lines.entry(first.to_owned()).or_default().push(second.to_owned());
    }
    lines
}
