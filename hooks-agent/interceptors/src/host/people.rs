//! Denies that people may lift: questions of the agent.

use std::collections::HashMap;
use std::fmt;
use std::future::{pending, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use agent_hooks::{
    AgentContext, ApprovalOutcome, ApprovalRequest, ApprovalResolution, ApprovalResolver, Decision,
    Transform, Verdict,
};
use async_trait::async_trait;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::message::unanswered_tool_uses;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The thread value with what waits.
const VALUE: &str = "interceptors.waiting";

/// Asks people about tool calls that interceptors deny unless somebody approves: the call ends with a question, as it
/// does for a hook that asks, and a decision resumes it, also in another process. Other tool calls go on. A deny at
/// another point that an approval could lift stands, as `host_error:approval_unresolved`: a call waits for people at
/// its tools alone.
///
/// [`Interceptors::ask_people`](crate::Interceptors::ask_people) uses it. In a declaration it is the approval resolver
/// of a name: the registry has a clone of it.
#[derive(Clone, Default)]
pub struct AskPeople(Arc<Mutex<HashMap<Key, Slot>>>);

/// The session and the sequence of a context.
type Key = (String, i64);

enum Slot {
    /// An interceptor may come to ask.
    Open(Option<Waker>),
    Asked(Asked),
    /// People have decided.
    Decided(Box<ApprovalResolution>),
}

/// What an approver is asked.
pub(super) struct Asked {
    pub(super) identity: Option<String>,
    pub(super) why: String,
}

/// A tool call that waits for people, with its context as it was when they were asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// The id of the tool call.
    pub(super) id: String,
    pub(super) context: AgentContext,
    /// The identity of what approvers were shown.
    pub(super) identity: Option<String>,
    pub(super) why: String,
}

impl AskPeople {
    /// Creates it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits until an interceptor asks about a context, as long as it is not dropped.
    pub(super) fn open(&self, context: &AgentContext) -> Opened<'_> {
        let key = key_of(context);
        self.slots().insert(key.clone(), Slot::Open(None));
        Opened { people: self, key }
    }

    /// Keeps what people have decided about a context, until it is asked for.
    pub(super) fn decide(&self, kept: &Kept, decided: Decided) -> Opened<'_> {
        let (outcome, verdict) = match decided {
            Decided::Approve(None) => (ApprovalOutcome::Approve, Some(Verdict::allow())),
            Decided::Approve(Some(args)) => {
                let transform = Some(Transform { path: "$target".to_owned(), value: args });
                let verdict =
                    Verdict { decision: Decision::Transform, transform, ..Verdict::allow() };
                (ApprovalOutcome::Approve, Some(verdict))
            }
            Decided::Reject => {
                let verdict = Verdict::deny(Some("rejected".to_owned()), None);
                (ApprovalOutcome::Reject, Some(verdict))
            }
            Decided::Nothing => (ApprovalOutcome::Unresolved, None),
        };
        let context_identity = kept.identity.clone();
        let resolution = ApprovalResolution { outcome, context_identity, verdict };
        let key = key_of(&kept.context);
        self.slots().insert(key.clone(), Slot::Decided(Box::new(resolution)));
        Opened { people: self, key }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<Key, Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What people have decided about a tool call.
pub(super) enum Decided {
    /// It may run, with other arguments if they gave some.
    Approve(Option<Value>),
    Reject,
    /// The tool call is another one by now.
    Nothing,
}

/// A context about which people may be asked.
pub(super) struct Opened<'a> {
    people: &'a AskPeople,
    key: Key,
}

impl Opened<'_> {
    /// Waits until an interceptor asks.
    pub(super) async fn asked(&self) -> Asked {
        poll_fn(|cx| {
            let mut slots = self.people.slots();
            match slots.get_mut(&self.key) {
                Some(Slot::Open(waker)) => {
                    *waker = Some(cx.waker().clone());
                    Poll::Pending
                }
                Some(slot @ Slot::Asked(_)) => match std::mem::replace(slot, Slot::Open(None)) {
                    Slot::Asked(asked) => Poll::Ready(asked),
                    _ => Poll::Pending,
                },
                _ => Poll::Pending,
            }
        })
        .await
    }
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        self.people.slots().remove(&self.key);
    }
}

#[async_trait]
impl ApprovalResolver for AskPeople {
    async fn resolve(&self, request: ApprovalRequest<'_>) -> ApprovalResolution {
        {
            let mut slots = self.slots();
            match slots.get_mut(&key_of(request.context)) {
                Some(Slot::Decided(resolution)) => return (**resolution).clone(),
                Some(slot) => {
                    let identity = request.context_identity;
                    let asked = Slot::Asked(Asked { identity, why: why(request.verdict) });
                    if let Slot::Open(Some(waker)) = std::mem::replace(slot, asked) {
                        waker.wake();
                    }
                }
                None => {
                    return ApprovalResolution {
                        outcome: ApprovalOutcome::Unresolved,
                        context_identity: request.context_identity,
                        verdict: None,
                    };
                }
            }
        }
        // The host drops this: the question is the agent's from here.
        pending().await
    }
}

impl fmt::Debug for AskPeople {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AskPeople")
    }
}

/// Returns what people read.
fn why(verdict: &Verdict) -> String {
    match (&verdict.reason, &verdict.message) {
        (Some(reason), Some(message)) => format!("{message} ({reason})"),
        (Some(only), None) | (None, Some(only)) => only.clone(),
        (None, None) => "an interceptor asks".to_owned(),
    }
}

fn key_of(context: &AgentContext) -> Key {
    let session = context.get("session").and_then(|it| it["id"].as_str()).unwrap_or_default();
    let sequence = context.get("sequence").and_then(Value::as_i64).unwrap_or(-1);
    (session.to_owned(), sequence)
}

/// Returns the tool calls of the thread that wait.
pub(super) fn waiting(cx: &CallContext) -> Vec<Kept> {
    cx.thread_value(VALUE).ok().flatten().unwrap_or_default()
}

/// Keeps a tool call that waits.
///
/// # Errors
/// The thread cannot keep it.
pub(super) fn keep(cx: &CallContext, new: Kept) -> Result<(), String> {
    let kept = cx.update_thread_value(VALUE, |kept: &mut Option<Vec<Kept>>| {
        let kept = kept.get_or_insert_default();
        kept.retain(|it| it.id != new.id);
        kept.push(new);
    });
    kept.map_err(|error| error.to_string())
}

/// Takes a tool call that waited.
pub(super) fn take(cx: &CallContext, id: &str) -> Option<Kept> {
    if !waiting(cx).iter().any(|it| it.id == id) {
        return None;
    }
    let taken = cx.update_thread_value(VALUE, |kept: &mut Option<Vec<Kept>>| {
        let all = kept.get_or_insert_default();
        let number = all.iter().position(|it| it.id == id);
        let taken = number.map(|number| all.remove(number));
        if all.is_empty() {
            *kept = None;
        }
        taken
    });
    taken.ok().flatten()
}

/// Returns those of the thread that wait no longer, and did not run.
pub(super) fn given_up(cx: &CallContext) -> Vec<Kept> {
    let kept = waiting(cx);
    if kept.is_empty() {
        return kept;
    }
    let open = cx.memory().map(|memory| unanswered_tool_uses(&memory.messages()));
    let is_open = |id: &str| open.iter().flatten().any(|call| call.id == id);
    kept.into_iter().filter(|it| !is_open(&it.id)).collect()
}
