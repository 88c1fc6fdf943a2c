//! A process that does tasks on a thread: each has two rounds of two tool calls and an answer.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Acquired, Filter, Store, StoreError, ThreadKey};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kills::process::die;
use crate::kills::worker::Place;
use crate::open::{messages, open};
use crate::watched::{Moment, Operation, Watch, Watched};

/// How long a lease lasts, so that a process soon takes over what a killed one left.
pub(crate) const LEASE: Duration = Duration::from_millis(250);

/// The name of the agent.
pub(crate) const AGENT: &str = "clerk";

/// The tasks of a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) place: Place,
    pub(crate) thread: String,
    /// How many tasks the thread has in the end.
    pub(crate) tasks: usize,
    pub(crate) at_once: bool,
    pub(crate) death: Option<Death>,
}

/// When a process kills itself.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Death {
    pub(crate) at: DeathAt,
    /// Before or after the commit, or the effect of the tool, of this number, from 1.
    pub(crate) number: usize,
    pub(crate) after: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum DeathAt {
    Commit,
    Tool,
}

impl Job {
    pub(crate) fn key(&self) -> ThreadKey {
        ThreadKey::new(AGENT, &*self.thread).unwrap()
    }

    /// Returns the file of the effects of the tools, or of the takeovers.
    pub(crate) fn file(&self, what: &str) -> std::path::PathBuf {
        self.place.folder.join(format!("{}.{what}", self.thread))
    }
}

/// Appends a line to a file, so that it survives the process.
pub(crate) fn append(path: &Path, line: &str) {
    let mut file = File::options().append(true).create(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
    file.sync_data().unwrap();
}

/// Does the tasks that are not done.
pub(crate) async fn work(job: Job) {
    let store = open(&job.place.address, LEASE).await;
    let job = Arc::new(job);
    let death = Arc::new(Killer { job: job.clone(), commits: Counter::default() });
    let agent = agent(Watched::new(store.clone(), death), &job);
    let mut task = 0;
    while task < job.tasks {
        let (text, on) = (format!("task {task}"), CallOptions::new().thread(&*job.thread));
        let messages = messages(&*store, &job.key()).await;
        let asked = messages.iter().filter(|msg| msg.role == Role::User && !msg.text().is_empty());
        let admitted = asked.count();
        let reply = if admitted == task {
            agent.call_with(on, Msg::user(&text)).await
        } else if admitted == task + 1 && is_cut_off(&*store, &job).await {
            agent.resume(on).await
        } else {
            task += 1;
            continue;
        };
        match reply {
            Ok(reply) => assert_eq!(reply.text(), format!("done {text}")),
            // A busy machine does not renew a lease that is so short. The thread goes on.
            Err(AgentError::Store(StoreError::LeaseLost { .. })) => continue,
            Err(error) => panic!("{error:?}"),
        }
        task += 1;
    }
}

async fn is_cut_off(store: &dyn Store, job: &Job) -> bool {
    let filter = Filter::agent(AGENT).thread(&*job.thread);
    store.threads(filter).await.unwrap()[0].in_call
}

fn agent(store: impl Store, job: &Arc<Job>) -> ReActAgent {
    let tools = Arc::new(Counter::default());
    let tool = |name: &'static str| {
        let (job, tools) = (job.clone(), tools.clone());
        FunctionTool::with_context(name, "Writes a line.", move |_: Value, cx: ToolContext| {
            let number = tools.next();
            job.dies(DeathAt::Tool, number, false);
            append(&job.file(name), &format!("{} {}", cx.call_id(), cx.idempotency_key()));
            job.dies(DeathAt::Tool, number, true);
            std::future::ready("written")
        })
    };
    ReActAgent::builder(AGENT)
        .model(ScriptedModel::new("script", answer))
        .tool(tool("append"))
        .tool(tool("note").idempotent())
        .parallel_tools(job.at_once)
        // The kills are not the fault of a message.
        .max_cut_offs(u32::MAX)
        .store(store)
        .build()
        .unwrap()
}

/// Answers by what was said since the task: two rounds of tool calls, and the end.
fn answer(request: &ChatRequest) -> ScriptedAnswer {
    let messages: Vec<_> = request.messages.iter().collect();
    let asked = messages.iter().rposition(|msg| msg.role == Role::User && !msg.text().is_empty());
    let text = messages[asked.unwrap()].text();
    let round = messages[asked.unwrap()..].iter().filter(|msg| msg.role == Role::Assistant).count();
    let task = text.trim_start_matches("task ");
    let call = |place: &str, tool: &str| {
        ContentBlock::ToolUse(ToolUse::new(format!("{task}-{round}-{place}"), tool, json!({})))
    };
    match round {
        0 => vec![call("a", "append"), call("b", "append")].into(),
        1 => vec![call("a", "note"), call("b", "append")].into(),
        _ => format!("done {text}").into(),
    }
}

/// Counts from 1.
#[derive(Default)]
struct Counter(AtomicUsize);

impl Counter {
    fn next(&self) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Job {
    fn dies(&self, at: DeathAt, number: usize, after: bool) {
        let is_now =
            |death: Death| death.at == at && (death.number, death.after) == (number, after);
        if self.death.is_some_and(is_now) {
            die();
        }
    }
}

/// Kills the process at a commit.
struct Killer {
    job: Arc<Job>,
    commits: Counter,
}

impl Watch for Killer {
    fn hear(&self, operation: Operation, _: usize, moment: Moment) -> Result<(), StoreError> {
        if operation == Operation::Commit {
            // A call commits one step at a time.
            let number = match moment {
                Moment::Before => self.commits.next(),
                Moment::After => self.commits.0.load(Ordering::Relaxed),
            };
            self.job.dies(DeathAt::Commit, number, moment == Moment::After);
        }
        Ok(())
    }

    fn acquired(&self, acquired: &Acquired) {
        if let Acquired::Granted { is_takeover, .. } = acquired {
            if *is_takeover {
                append(&self.job.file("takeovers"), "takeover");
            }
            println!("ready");
        }
    }
}
