//! Checks and counts the results of the chaos.

use hooks_agent_core::error::InputError;
use hooks_agent_core::message::{Messages, Msg};
use hooks_agent_core::store::{Filter, Store};

use crate::chaos::worker::{CLERK, HELPER, Job, is_approved, repeated, tasks};
use crate::open::messages;

/// What happened on one or more threads.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) kills: usize,
    pub(crate) tasks: usize,
    pub(crate) paid: usize,
    pub(crate) rejected: usize,
    /// How many tool calls people were asked about, because their outcome was unknown.
    pub(crate) unknown: usize,
    /// How many decisions people were asked for again.
    pub(crate) again: usize,
    /// How many messages were set aside.
    pub(crate) aside: usize,
    /// How many calls of a model the limits let through.
    pub(crate) called: usize,
}

impl Report {
    pub(crate) fn add(&mut self, other: &Self) {
        self.kills += other.kills;
        self.tasks += other.tasks;
        self.paid += other.paid;
        self.rejected += other.rejected;
        self.unknown += other.unknown;
        self.again += other.again;
        self.aside += other.aside;
        self.called += other.called;
    }
}

/// Checks a thread after its last process ended.
pub(crate) async fn check(store: &dyn Store, job: &Job) -> Report {
    assert_eq!(job.lines("errors"), [""; 0], "{}", read(job, "errors"));
    let mut report = Report { again: check_asked_again(store, job).await, ..Report::default() };
    for thread in store.threads(Filter::all().thread(&*job.thread)).await.unwrap() {
        let messages = messages(store, &thread.key).await;
        let context = || format!("{}: {messages:#?}", thread.key);
        InputError::check_history(&messages)
            .unwrap_or_else(|error| panic!("{error}: {}", context()));
        assert!(!thread.in_call, "the run has ended: {}", context());
        assert!(is_accepted(&messages), "{}", context());
    }
    report.unknown = job.lines("unknown").len();
    let aside = job.lines("aside");
    assert!(aside.iter().all(|times| times == "2"), "{aside:?}");
    report.aside = aside.len();
    let messages = messages(store, &job.key(CLERK)).await;
    let asked = tasks(&messages);
    let expected: Vec<_> = (0..job.tasks).map(|task| format!("task {task}")).collect();
    assert_eq!(asked, expected, "each task once");
    assert_eq!(messages.last().unwrap().text(), format!("done task {}", job.tasks - 1));
    for effects in ["append", "pay"].map(|tool| job.effects(tool)) {
        assert!(repeated(&effects).is_empty(), "{effects:?}");
    }
    let paid = job.effects("pay");
    assert!(paid.iter().all(|call| is_approved(call)), "a rejected call ran: {paid:?}");
    let calls = (0..job.tasks).map(|task| format!("{task}-pay"));
    report.tasks = job.tasks;
    report.paid = paid.len();
    report.rejected = calls.filter(|call| !is_approved(call)).count();
    report.called = job.lines("called").len();
    assert!(report.called <= job.most, "{} of {} calls of the model", report.called, job.most);
    report
}

/// Checks the decisions that people were asked for again: the tool call that they were about ended with
/// an error, as the call of the helper did whose store failed, and the clerk gave the task anew.
/// Returns how many there were.
async fn check_asked_again(store: &dyn Store, job: &Job) -> usize {
    let messages = messages(store, &job.key(HELPER)).await;
    let again = job.lines("again");
    for question in &again {
        let id = question.split(' ').next().unwrap();
        let failed = messages.iter().flat_map(Msg::tool_results);
        let failed = failed.filter(|result| result.id == id && result.is_error);
        assert!(failed.count() > 0, "a decision was lost: {question}: {messages:#?}");
    }
    again.len()
}

/// Returns whether providers accept the history: the results of a message's calls follow at once, in
/// the order of the calls.
fn is_accepted(messages: &Messages) -> bool {
    let mut open: Vec<&str> = Vec::new();
    messages.iter().all(|msg| {
        let results: Vec<_> = msg.tool_results().map(|result| &*result.id).collect();
        let is_next = open.get(..results.len()) == Some(&results);
        open.drain(..results.len().min(open.len()));
        let is_between = !open.is_empty() && results.is_empty();
        open.extend(msg.tool_uses().map(|call| &*call.id));
        is_next && !is_between
    })
}

fn read(job: &Job, what: &str) -> String {
    std::fs::read_to_string(job.file(what)).unwrap_or_default()
}
