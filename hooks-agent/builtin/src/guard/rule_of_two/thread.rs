//! Labels of a thread: those of past tool calls, and those of tool calls that may run next.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::guard::rule_of_two::labels::Labels;
use hooks_agent_core::call::{CallContext, RunId};
use hooks_agent_core::memory::ThreadValueError;
use hooks_agent_core::message::ToolUse;

/// The name of the thread value.
const NAME: &str = "rule_of_two";

/// The tool call that brought a label first; without an id, what is like the result of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Origin {
    tool: String,
    call: String,
    agent: String,
}

/// What has happened in a thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Seen {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    untrusted_input: Option<Origin>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    private_data: Option<Origin>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changes_state: Option<Origin>,
}

impl Seen {
    fn add(&mut self, labels: Labels, origin: &Origin) {
        let Self { untrusted_input, private_data, changes_state } = self;
        let origins = [untrusted_input, private_data, changes_state];
        for ((label, _), own) in Labels::EACH.into_iter().zip(origins) {
            if labels.contains(label) {
                own.get_or_insert_with(|| origin.clone());
            }
        }
    }

    fn labels(&self) -> Labels {
        let Self { untrusted_input, private_data, changes_state } = self;
        let origins = [untrusted_input, private_data, changes_state];
        let seen = Labels::EACH.into_iter().zip(origins).filter(|(_, origin)| origin.is_some());
        seen.fold(Labels::NONE, |labels, ((label, _), _)| labels | label)
    }

    /// Returns the chain of tool calls that brought the others of the three. It stays the same when one more
    /// tool call brings these labels.
    fn chain(&self, labels: Labels) -> String {
        let Self { untrusted_input, private_data, changes_state } = self;
        let origins = [untrusted_input, private_data, changes_state];
        let links = Labels::EACH.into_iter().zip(origins).filter_map(|((label, name), origin)| {
            let Origin { tool, call, agent } =
                origin.as_ref().filter(|_| !labels.contains(label))?;
            let call = match call.as_str() {
                "" => format!("in agent `{agent}`"),
                call => format!("call `{call}` of agent `{agent}`"),
            };
            Some(format!("{name} by `{tool}` ({call})"))
        });
        links.collect::<Vec<_>>().join(", ")
    }
}

/// A tool call that may run next.
struct Reserved {
    run: RunId,
    labels: Labels,
    origin: Origin,
    /// Whether people let it run.
    is_approved: bool,
}

/// The tool calls that may run next, by the call of the outermost agent.
#[derive(Default)]
pub(super) struct Reservations(Mutex<HashMap<RunId, Vec<Reserved>>>);

/// Why a tool call may not run.
pub(super) enum Denied {
    /// It would complete the three.
    Completes(String),
    /// What has happened in the thread is unknown.
    Unknown(ThreadValueError),
}

impl From<ThreadValueError> for Denied {
    fn from(error: ThreadValueError) -> Self {
        Self::Unknown(error)
    }
}

impl Reservations {
    /// Reserves the labels of a tool call, unless it would complete the three and people did not let it
    /// run for the reason that is passed to `is_approved`.
    pub(super) fn reserve(
        &self,
        cx: &CallContext,
        call: &ToolUse,
        labels: Labels,
        is_approved: impl FnOnce(&str) -> bool,
    ) -> Result<(), Denied> {
        let root = cx.outermost();
        let mut all = self.lock();
        let reserved = all.entry(root.run_id()).or_default();
        reserved.retain(|other| !other.is_of(cx, call));
        let is_approved = match decide(root, reserved, call, labels) {
            Ok(()) => false,
            Err(Denied::Completes(why)) if is_approved(&why) => true,
            denied => return denied,
        };
        let (run, origin) = (cx.run_id(), origin(cx, call));
        reserved.push(Reserved { run, labels, origin, is_approved });
        Ok(())
    }

    /// Records the labels of a tool call that runs now, unless it would complete the three: another
    /// hook may have made another call of it since it was reserved.
    pub(super) fn run(
        &self,
        cx: &CallContext,
        call: &ToolUse,
        labels: Labels,
    ) -> Result<(), Denied> {
        let is_approved = self.is_approved(cx, call, labels);
        self.reserve(cx, call, labels, |_| is_approved)?;
        record(cx, call, labels)?;
        Ok(())
    }

    /// Returns whether people let a call of this tool with these labels run.
    fn is_approved(&self, cx: &CallContext, call: &ToolUse, labels: Labels) -> bool {
        let all = self.lock();
        let mut reserved = all.get(&cx.outermost().run_id()).into_iter().flatten();
        reserved.any(|it| {
            it.is_of(cx, call)
                && it.is_approved
                && it.origin.tool == call.name
                && it.labels == labels
        })
    }

    /// Returns what would be asked about tool calls of an answer if they ran in order, by id.
    pub(super) fn foresee<'a>(
        cx: &CallContext,
        calls: impl Iterator<Item = (&'a ToolUse, Labels)>,
    ) -> Vec<(String, String)> {
        let (mut before, mut asked) = (Vec::new(), Vec::new());
        for (call, labels) in calls {
            match decide(cx.outermost(), &before, call, labels) {
                Err(Denied::Completes(why)) => asked.push((call.id.clone(), why)),
                Ok(()) => {}
                // It is refused before it runs.
                Err(Denied::Unknown(_)) => break,
            }
            let (run, origin) = (cx.run_id(), origin(cx, call));
            before.push(Reserved { run, labels, origin, is_approved: false });
        }
        asked
    }

    /// Ends the reservation of a tool call that has a result.
    pub(super) fn release(&self, cx: &CallContext, call: &ToolUse) {
        self.retain(cx, |reserved| !reserved.is_of(cx, call));
    }

    /// Ends the reservations of an agent's call.
    pub(super) fn settle(&self, cx: &CallContext) {
        self.retain(cx, |reserved| reserved.run != cx.run_id());
    }

    fn retain(&self, cx: &CallContext, keep: impl Fn(&Reserved) -> bool) {
        let (root, mut all) = (cx.outermost().run_id(), self.lock());
        if let Some(reserved) = all.get_mut(&root) {
            reserved.retain(keep);
            if reserved.is_empty() {
                all.remove(&root);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Vec<Reserved>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reserved {
    fn is_of(&self, cx: &CallContext, call: &ToolUse) -> bool {
        self.run == cx.run_id() && self.origin.call == call.id
    }
}

/// Records labels of a tool call with the thread of the outermost agent.
pub(super) fn record(
    cx: &CallContext,
    call: &ToolUse,
    labels: Labels,
) -> Result<(), ThreadValueError> {
    let origin = origin(cx, call);
    cx.outermost().update_thread_value(NAME, |seen: &mut Option<Seen>| {
        seen.get_or_insert_default().add(labels, &origin);
    })
}

/// Returns the chain of calls if the tool call would complete the three.
fn decide(
    root: &CallContext,
    reserved: &[Reserved],
    call: &ToolUse,
    labels: Labels,
) -> Result<(), Denied> {
    let mut seen: Seen = root.thread_value(NAME)?.unwrap_or_default();
    for other in reserved {
        seen.add(other.labels, &other.origin);
    }
    if !(seen.labels() | labels).contains(Labels::ALL) {
        return Ok(());
    }
    let chain = match seen.chain(labels) {
        chain if chain.is_empty() => String::new(),
        chain => format!("; this thread has {chain}"),
    };
    Err(Denied::Completes(format!(
        "`{}` brings {labels}{chain}: untrusted input, private data and changes of state together need \
         the approval of the user",
        call.name
    )))
}

fn origin(cx: &CallContext, call: &ToolUse) -> Origin {
    let agent = cx.agent_name().to_owned();
    Origin { tool: call.name.clone(), call: call.id.clone(), agent }
}
