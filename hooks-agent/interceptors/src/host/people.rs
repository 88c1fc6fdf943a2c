//! Denies that people may lift: questions of the agent.

use std::collections::HashMap;
use std::fmt;
use std::future::{pending, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use agent_hooks::{
    AgentContext, ApprovalOutcome, ApprovalRequest, ApprovalResolution, ApprovalResolver, Verdict,
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

#[derive(Default)]
struct Slot {
    /// What people have decided, by what they were asked.
    decided: Vec<(String, Answer)>,
    /// What an interceptor asks besides.
    asked: Option<Asked>,
    waker: Option<Waker>,
}

/// What people have decided about one question.
struct Answer {
    outcome: ApprovalOutcome,
    verdict: Option<Verdict>,
    about: About,
}

/// What people decided about.
enum About {
    /// The context of this identity.
    Shown(Option<String>),
    /// What they have made of it.
    Edited,
}

impl Answer {
    fn approval(about: About) -> Self {
        Self { outcome: ApprovalOutcome::Approve, verdict: Some(Verdict::allow()), about }
    }
}

/// What an approver is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Asked {
    /// The identity of what they are shown.
    pub(super) identity: Option<String>,
    pub(super) why: String,
}

/// A tool call that waits for people, with its context as it was when they were asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// The id of the tool call.
    pub(super) id: String,
    pub(super) context: AgentContext,
    /// What they have approved before: interceptors may ask one after the other.
    pub(super) approved: Vec<Asked>,
    pub(super) asked: Asked,
}

impl Kept {
    /// Returns it with other arguments: what people have decided before was about others.
    pub(super) fn edited(mut self, args: &Value) -> Self {
        self.context.insert("target".to_owned(), args.clone());
        if let Some(call) = self.context.get_mut("tool_call") {
            call["args"] = args.clone();
        }
        self.approved.clear();
        self
    }
}

impl AskPeople {
    /// Creates it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Has interceptors ask about a context, as long as what is returned is not dropped.
    pub(super) fn open(&self, context: &AgentContext) -> Opened<'_> {
        self.opened(context, Slot::default())
    }

    /// Does the same with what people have decided about a tool call.
    pub(super) fn decide(&self, kept: &Kept, decided: Decided) -> Opened<'_> {
        let about = About::Shown(kept.asked.identity.clone());
        let last = match decided {
            Decided::Approve => Answer::approval(about),
            Decided::Edit => Answer::approval(About::Edited),
            Decided::Reject => Answer {
                outcome: ApprovalOutcome::Reject,
                verdict: Some(Verdict::deny(Some("rejected".to_owned()), None)),
                about,
            },
            Decided::Nothing => {
                Answer { outcome: ApprovalOutcome::Unresolved, verdict: None, about }
            }
        };
        let before = kept.approved.iter().map(|asked| {
            (asked.why.clone(), Answer::approval(About::Shown(asked.identity.clone())))
        });
        let decided = before.chain([(kept.asked.why.clone(), last)]).collect();
        self.opened(&kept.context, Slot { decided, ..Slot::default() })
    }

    fn opened(&self, context: &AgentContext, slot: Slot) -> Opened<'_> {
        let key = key_of(context);
        self.slots().insert(key.clone(), slot);
        Opened { people: self, key }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<Key, Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What people have decided about a tool call.
#[derive(Clone, Copy)]
pub(super) enum Decided {
    /// It may run.
    Approve,
    /// It may run with the arguments that its context has by now, which are theirs.
    Edit,
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
    /// Waits until an interceptor asks what nobody has decided.
    pub(super) async fn asked(&self) -> Asked {
        poll_fn(|cx| {
            let mut slots = self.people.slots();
            let Some(slot) = slots.get_mut(&self.key) else { return Poll::Pending };
            slot.waker = Some(cx.waker().clone());
            slot.asked.take().map_or(Poll::Pending, Poll::Ready)
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
        let why = why(request.verdict);
        let waker = {
            let mut slots = self.slots();
            let Some(slot) = slots.get_mut(&key_of(request.context)) else {
                tracing::error!(
                    target: "hooks_agent::interceptors",
                    "people are not asked here: a tool call waits for them, no other point; and \
                     `Interceptors::ask_people` must have this `AskPeople` or a clone of it"
                );
                return ApprovalResolution {
                    outcome: ApprovalOutcome::Unresolved,
                    context_identity: request.context_identity,
                    verdict: None,
                };
            };
            // One decision answers one question: another interceptor may ask in the same words.
            if let Some(number) = slot.decided.iter().position(|(of, _)| *of == why) {
                let (_, Answer { outcome, verdict, about }) = slot.decided.remove(number);
                let context_identity = match about {
                    About::Shown(identity) => identity,
                    About::Edited => request.context_identity,
                };
                return ApprovalResolution { outcome, context_identity, verdict };
            }
            slot.asked = Some(Asked { identity: request.context_identity, why });
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
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
