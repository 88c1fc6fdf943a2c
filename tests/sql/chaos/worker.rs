//! A process of the chaos: a clerk whose helper pays if a person lets it, and a counter with a limit.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent_builtin::limit::ModelCallLimit;
use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::message::{GenerateReason, PendingReason, unanswered_tool_uses};
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{
    Decision, DecisionError, Filter, Store, StoreError, ThreadKey, Unknown, Verdict, Waiting,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::kills::{LEASE, Place, append};
use crate::open::{history, try_open};

pub(crate) const CLERK: &str = "clerk";
pub(crate) const HELPER: &str = "helper";
pub(crate) const COUNTER: &str = "counter";

/// What the user says when a process was killed.
const HURRY: &str = "Hurry up";

/// How long a process waits before it tries again.
const PAUSE: Duration = Duration::from_millis(20);

/// The tasks of a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) place: Place,
    pub(crate) thread: String,
    /// How many tasks the thread has in the end.
    pub(crate) tasks: usize,
    /// The most model calls of the thread of the counter.
    pub(crate) most: usize,
}

impl Job {
    pub(crate) fn key(&self, agent: &str) -> ThreadKey {
        ThreadKey::new(agent, &*self.thread).unwrap()
    }

    /// Returns the file of what happened, one line each time.
    pub(crate) fn file(&self, what: &str) -> PathBuf {
        self.place.folder.join(format!("{}.{what}", self.thread))
    }

    /// Returns the lines of a file.
    pub(crate) fn lines(&self, what: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.file(what)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns the tool calls that took effect.
    pub(crate) fn effects(&self, tool: &str) -> Vec<String> {
        let first = |line: &String| line.split(' ').next().unwrap_or_default().to_owned();
        self.lines(tool).iter().map(first).collect()
    }

    fn options(&self) -> CallOptions {
        CallOptions::new().thread(&*self.thread)
    }
}

/// Does the tasks that are not done.
pub(crate) async fn work(job: Job) {
    let job = Arc::new(job);
    let mut tries = tokio::time::interval(PAUSE);
    let store = loop {
        tries.tick().await;
        if let Ok(store) = try_open(&job.place.address, LEASE).await {
            break store;
        }
    };
    println!("ready");
    let (clerk, counter) = (clerk(store.clone(), &job), counter(store.clone(), &job));
    let tasks = until_done(&job, async || do_task(&clerk, &*store, &job).await);
    let pauses = Mutex::new(tokio::time::interval(PAUSE));
    let counts = until_done(&job, async || {
        // The tasks have the time between.
        pauses.lock().await.tick().await;
        count(&counter, &*store, &job).await
    });
    tokio::join!(tasks, counts);
}

/// Repeats what is not done, also if the store fails.
async fn until_done(job: &Job, step: impl AsyncFn() -> Result<bool, AgentError>) {
    let mut tries = tokio::time::interval(PAUSE);
    loop {
        match step().await {
            Ok(true) => return,
            Ok(false) => {}
            Err(AgentError::Store(error)) if is_of_the_weather(&error) => drop(tries.tick().await),
            Err(error) => {
                append(&job.file("errors"), &format!("{error:?}"));
                tries.tick().await;
            }
        }
    }
}

fn is_of_the_weather(error: &StoreError) -> bool {
    error.is_transient() || matches!(error, StoreError::LeaseLost { .. })
}

/// Does what comes next. Returns whether nothing is left.
async fn do_task(agent: &ReActAgent, store: &dyn Store, job: &Job) -> Result<bool, AgentError> {
    let waiting = store.waiting(Filter::all().thread(&*job.thread)).await?;
    for asked in &waiting {
        decide(store, job, asked).await?;
    }
    let messages = history(store, &job.key(CLERK)).await?;
    let is_open = !unanswered_tool_uses(&messages).is_empty();
    let is_cut_off = is_cut_off(store, CLERK, job).await?;
    if is_cut_off && RandomState::new().hash_one(()).is_multiple_of(3) {
        agent.call_with(job.options(), HURRY).await?;
        return Ok(false);
    }
    if is_open || !waiting.is_empty() || is_cut_off {
        agent.resume(job.options()).await?;
        return Ok(false);
    }
    let admitted = tasks(&messages).len();
    if admitted == job.tasks {
        return Ok(true);
    }
    agent.call_with(job.options(), format!("task {admitted}")).await?;
    Ok(false)
}

/// Returns the tasks that were admitted.
pub(crate) fn tasks(messages: &Messages) -> Vec<String> {
    messages.iter().filter(|msg| is_task(msg)).map(Msg::text).collect()
}

fn is_task(msg: &Msg) -> bool {
    msg.role == Role::User && msg.text().starts_with("task ")
}

async fn is_cut_off(store: &dyn Store, agent: &str, job: &Job) -> Result<bool, StoreError> {
    let threads = store.threads(Filter::agent(agent).thread(&*job.thread)).await?;
    Ok(threads.first().is_some_and(|thread| thread.in_call))
}

/// Returns whether a person lets this tool call run.
pub(crate) fn is_approved(call: &str) -> bool {
    call.bytes().map(u32::from).sum::<u32>() % 2 == 0
}

/// Decides as a person does; another person, who is asked again, decides otherwise.
async fn decide(store: &dyn Store, job: &Job, asked: &Waiting) -> Result<(), StoreError> {
    // The path of the call begins with the one of the sub-agent.
    let call = asked.call_id.rsplit('/').next().unwrap_or_default().to_owned();
    let is_approved = match asked.why {
        // Whether it took effect is for the person to find out.
        PendingReason::UnknownOutcome => {
            append(&job.file("unknown"), &call);
            false
        }
        _ => {
            let question = format!("{call} {}", asked.id);
            let known = job.lines("decides");
            let is_again =
                known.iter().any(|it| it.starts_with(&format!("{call} ")) && *it != question);
            if is_again {
                append(&job.file("again"), &question);
            }
            // Before the store has it: a process that is killed between them is asked the same question.
            append(&job.file("decides"), &question);
            is_approved(&call) != is_again
        }
    };
    let decision = if is_approved { Decision::Approve } else { Decision::Reject("no".to_owned()) };
    match store.decide(vec![Verdict::new(asked.id.clone(), decision)]).await {
        Ok(()) | Err(StoreError::Decision(DecisionError::AlreadyDecided { .. })) => Ok(()),
        Err(error) => Err(error),
    }
}

/// A tool that writes a line with the id of its call.
fn tool(name: &'static str, job: &Arc<Job>) -> FunctionTool {
    let job = job.clone();
    FunctionTool::with_context(name, "Writes a line.", move |_: Value, cx: ToolContext| {
        append(&job.file(name), &format!("{} {}", cx.call_id(), cx.idempotency_key()));
        std::future::ready("written")
    })
}

fn clerk(store: Arc<dyn Store>, job: &Arc<Job>) -> ReActAgent {
    let helper = ReActAgent::builder(HELPER)
        .model(ScriptedModel::new("helper", pay))
        .tool(tool("pay", job))
        .hook(HumanInTheLoop::new().ask("pay"))
        // The kills are not the fault of a message.
        .max_cut_offs(u32::MAX)
        .on_unknown(Unknown::Ask)
        .store(store.clone())
        .build()
        .unwrap();
    ReActAgent::builder(CLERK)
        .on_unknown(Unknown::Ask)
        .model(ScriptedModel::new("clerk", delegate))
        .tool(tool("append", job))
        .tool(helper.to_tool("Pays."))
        .parallel_tools(job.thread.ends_with('1'))
        .max_cut_offs(u32::MAX)
        .store(store)
        .build()
        .unwrap()
}

/// Delegates the payment of a task, and ends it.
fn delegate(request: &ChatRequest) -> ScriptedAnswer {
    let (task, round) = place(request);
    let call = |tool: &str, input: Value| {
        ContentBlock::ToolUse(ToolUse::new(format!("{task}-{tool}"), tool, input))
    };
    match round {
        0 => vec![
            call("append", json!({})),
            call("helper", json!({ "task": format!("task {task}") })),
        ]
        .into(),
        _ => format!("done task {task}").into(),
    }
}

/// Pays for a task.
fn pay(request: &ChatRequest) -> ScriptedAnswer {
    let (task, round) = place(request);
    match round {
        0 => ToolUse::new(format!("{task}-pay"), "pay", json!({})).into(),
        _ => format!("paid for task {task}").into(),
    }
}

/// Returns the task that is done, and how many answers it has.
fn place(request: &ChatRequest) -> (String, usize) {
    let messages: Vec<_> = request.messages.iter().collect();
    let asked = messages.iter().rposition(|msg| is_task(msg));
    let asked = asked.expect("there is a task");
    let answers = messages[asked..].iter().filter(|msg| msg.role == Role::Assistant).count();
    (messages[asked].text().trim_start_matches("task ").to_owned(), answers)
}

fn counter(store: Arc<dyn Store>, job: &Arc<Job>) -> ReActAgent {
    let called = job.clone();
    let model = ScriptedModel::new("counter", move |_| {
        append(&called.file("called"), "called");
        "counted"
    });
    let limit = ModelCallLimit::builder().thread(job.most as u64).build().unwrap();
    let builder = ReActAgent::builder(COUNTER).model(model).hook(limit);
    // On one thread, what is cut off twice is set aside.
    let most = if job.thread.ends_with('2') { 2 } else { u32::MAX };
    builder.max_cut_offs(most).store(store).build().unwrap()
}

/// Calls the model once more. Returns whether the limit is reached.
async fn count(agent: &ReActAgent, store: &dyn Store, job: &Job) -> Result<bool, AgentError> {
    let reply = if is_cut_off(store, COUNTER, job).await? {
        agent.resume(job.options()).await
    } else {
        agent.call_with(job.options(), "count").await
    };
    match reply {
        Ok(reply) => Ok(reply.reason == Some(GenerateReason::LimitReached)),
        Err(AgentError::SetAside { times, .. }) => {
            append(&job.file("aside"), &times.to_string());
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Returns the lines that stand more than once.
pub(crate) fn repeated(lines: &[String]) -> Vec<&String> {
    let mut seen = HashSet::new();
    lines.iter().filter(|line| !seen.insert(*line)).collect()
}
