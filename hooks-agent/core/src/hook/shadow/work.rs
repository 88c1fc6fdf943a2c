//! The work of a hook in shadow beside a call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::agent::Agent;
use crate::call::{CallContext, Snapshot};
use crate::event::EventCopy;
use crate::hook::boxed::DynAgentHook;
use crate::hook::shadow::around::{BesideCheck, BesideCompression, BesideModel, BesideTool};
use crate::hook::shadow::undone::Undone;
use crate::hook::watch::{Content, HookFlow, HookInfo, flow_of};
use crate::message::Messages;

/// A job of a hook, with what its call had then.
pub(super) struct Work {
    pub(super) snapshot: Snapshot,
    pub(super) info: Arc<HookInfo>,
    pub(super) job: Job,
    pub(super) undone: Undone,
}

/// An event, or a call that the hook runs around.
pub(super) enum Job {
    Event(EventCopy),
    Model(Box<BesideModel>),
    Tool(Box<BesideTool>),
    Check(Box<BesideCheck>),
    Compression(Box<BesideCompression>),
}

/// What a job came to.
pub(super) struct Seen {
    pub(super) event: &'static str,
    pub(super) tool_call: Option<Box<str>>,
    pub(super) contents: [(Content, Content); 2],
    /// Whether it changed what the contents do not have.
    pub(super) has_changed: bool,
    pub(super) flow: HookFlow,
    start: Instant,
    /// How long the hook waited for the call.
    pub(super) waited: Duration,
}

/// What a hook may change of a call besides what it decides: its memory, and how far it may go.
pub(super) struct Reached {
    messages: Option<Messages>,
    is_interrupted: bool,
    max_iters: usize,
}

impl Reached {
    pub(super) fn of(cx: &CallContext) -> Self {
        Self {
            messages: cx.memory().map(|memory| memory.messages()),
            is_interrupted: cx.is_itself_interrupted(),
            max_iters: cx.max_iters(),
        }
    }

    fn has_messages_of(&self, other: &Self) -> bool {
        match (&self.messages, &other.messages) {
            (Some(own), Some(other)) => {
                own.len() == other.len()
                    && own.shared().zip(other.shared()).all(|(own, other)| Arc::ptr_eq(own, other))
            }
            (own, other) => own.is_none() && other.is_none(),
        }
    }
}

impl Seen {
    pub(super) fn of(job: &Job) -> Self {
        let (event, tool_call) = match job {
            Job::Event(event) => (event.kind().name(), event.tool_call().map(Into::into)),
            Job::Model(_) => ("MODEL_CALL", None),
            Job::Tool(beside) => ("TOOL_CALL", Some(beside.call.id.as_str().into())),
            Job::Check(beside) => ("PERMISSION_CHECK", Some(beside.call.id.as_str().into())),
            Job::Compression(_) => ("COMPRESSION", None),
        };
        let nothing = || (Content::Nothing, Content::Nothing);
        Self {
            event,
            tool_call,
            contents: [nothing(), nothing()],
            has_changed: false,
            flow: HookFlow::Cancelled,
            start: Instant::now(),
            waited: Duration::ZERO,
        }
    }

    /// Notes what the hook changed besides what it decided.
    pub(super) fn add_reached(&mut self, before: &Reached, after: &Reached) {
        if after.is_interrupted && !before.is_interrupted && self.flow == HookFlow::Continue {
            self.flow = HookFlow::Stop;
        }
        self.has_changed |= after.max_iters < before.max_iters || !after.has_messages_of(before);
    }

    pub(super) fn panicked(&mut self) {
        self.flow = HookFlow::Panicked;
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.start.elapsed().saturating_sub(self.waited)
    }
}

impl Job {
    pub(super) async fn run(
        self,
        hook: &dyn DynAgentHook,
        agent: &dyn Agent,
        cx: &CallContext,
        info: &HookInfo,
        seen: &mut Seen,
    ) {
        match self {
            Self::Event(mut copy) => {
                let kind = copy.kind();
                let Some(mut event) = copy.event(agent, cx, &info.asks_as) else { return };
                seen.contents[0].0 = Content::of(&event);
                let ended = if hook.sync_events().contains(kind) {
                    hook.on_event_now(&mut event)
                } else {
                    hook.on_event(&mut event).await
                };
                seen.contents[0].1 = Content::of(&event);
                seen.flow = flow_of(&ended);
            }
            Self::Model(beside) => beside.run(hook, agent, cx, seen).await,
            Self::Tool(beside) => beside.run(hook, agent, cx, seen).await,
            Self::Check(beside) => beside.run(hook, agent, cx, seen).await,
            Self::Compression(beside) => beside.run(hook, agent, cx, seen).await,
        }
    }
}
