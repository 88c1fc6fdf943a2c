//! One run of an event hook.

use std::fmt;
use std::time::Duration;

use hooks_core::{HookRole, Level};
use serde::{Deserialize, Serialize};

use crate::call::CallContext;
use crate::event::EventKind;
use crate::hook::watch::changes::HookChange;
use crate::hook::watch::content::Content;
use crate::hook::watch::hook_info::HookInfo;

/// Receives the runs of the event hooks of an agent, to show or count what they do.
///
/// A hook returns it from [`AgentHook::watcher`](crate::hook::AgentHook::watcher). It receives each
/// run of every other event hook of the calls in which the hook runs, right after that run: at
/// events, and around calls. A run at a chunk is received only if the hook
/// fails there. Runs of method hooks are not received.
/// A watcher that several hooks bring, as clones of one hook may, receives each run once, and none of
/// theirs.
///
/// It is called by the call, so it should return at once. A panic in it is reported through
/// `tracing` and does not affect the call.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use hooks_agent::hook::{HookRun, HookWatcher};
/// use hooks_agent::prelude::*;
///
/// #[derive(Default)]
/// struct Seen(Mutex<Vec<String>>);
///
/// impl HookWatcher for Seen {
///     fn hook_ran(&self, run: &HookRun<'_>) {
///         let changed: Vec<_> = run.changes().into_iter().map(|change| change.path).collect();
///         let line = format!("{} at {}: {} {changed:?}", run.hook(), run.event(), run.flow());
///         self.0.lock().unwrap().push(line);
///     }
/// }
///
/// struct Watch(Arc<Seen>);
///
/// impl AgentHook for Watch {
///     fn events(&self) -> EventMask {
///         EventMask::NONE
///     }
///
///     fn watcher(&self) -> Option<Arc<dyn HookWatcher>> {
///         Some(self.0.clone())
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let seen = Arc::new(Seen::default());
/// let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" - A."));
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant")
///     .model(model)
///     .hook(sign.named("sign"))
///     .hook(Watch(seen.clone()))
///     .build()?;
/// agent.call("Go").await?;
/// let lines = seen.0.lock().unwrap();
/// assert_eq!(*lines, [r#"sign at POST_CALL: continue ["message.content[0].text"]"#]);
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub trait HookWatcher: Send + Sync {
    /// Receives a run of a hook.
    fn hook_ran(&self, run: &HookRun<'_>);

    /// Returns whether it receives the runs of hooks [in shadow](HookRun::is_shadow) alone: then the runs of other hooks are
    /// not prepared for it. It is asked once a call. The default is no.
    fn only_shadow(&self) -> bool {
        false
    }
}

/// One run of an event hook, as a [`HookWatcher`] receives it.
pub struct HookRun<'a> {
    pub(crate) cx: &'a CallContext,
    pub(crate) info: &'a HookInfo,
    pub(crate) event: &'static str,
    pub(crate) tool_call: Option<&'a str>,
    pub(crate) elapsed: Duration,
    pub(crate) flow: HookFlow,
    pub(crate) contents: &'a [(Content, Content)],
    /// Whether the hook ran in shadow.
    pub(crate) is_shadow: bool,
    /// What the hook, in shadow, would have done.
    pub(crate) would: Option<HookFlow>,
}

/// How an event hook ended.
///
/// In JSON and as text, it is the variant in snake case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HookFlow {
    /// The call continues.
    Continue,
    /// The hook answered in place of the agent, the model or the tool.
    Answer,
    /// The hook refused a tool call: it answered with an error, or denied it.
    Refuse,
    /// The hook asks for permission.
    Ask,
    /// The hook stopped the call.
    Stop,
    /// The hook jumped to another step of the call.
    Jump,
    /// The hook recovered from a failure.
    Recover,
    /// The hook failed.
    Failed,
    /// The hook panicked.
    Panicked,
    /// The call was dropped or interrupted while the hook waited.
    Cancelled,
}

impl HookFlow {
    /// Returns the text of the flow, in snake case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Answer => "answer",
            Self::Refuse => "refuse",
            Self::Ask => "ask",
            Self::Stop => "stop",
            Self::Jump => "jump",
            Self::Recover => "recover",
            Self::Failed => "failed",
            Self::Panicked => "panicked",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for HookFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<'a> HookRun<'a> {
    /// Returns the context of the call.
    #[must_use]
    pub fn context(&self) -> &'a CallContext {
        self.cx
    }

    /// Returns whether an earlier run of the call had it. The end of a run is its own.
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        self.event != EventKind::Settled.name() && self.cx.replays(self.tool_call)
    }

    /// Returns the name of the hook.
    #[must_use]
    pub fn hook(&self) -> &'a str {
        &self.info.name
    }

    /// Returns where it ran: the name of an [`EventKind`](crate::event::EventKind), such as
    /// `PRE_ACTING`, or for a hook around a call the name of its constant in
    /// [`AroundMask`](crate::hook::AroundMask), such as `TOOL_CALL`.
    #[must_use]
    pub fn event(&self) -> &'static str {
        self.event
    }

    /// Returns whether it is a hook of the agent or of all agents of a type.
    #[must_use]
    pub fn level(&self) -> Level {
        self.info.level
    }

    /// Returns the priority of the hook.
    #[must_use]
    pub fn priority(&self) -> i32 {
        self.info.priority
    }

    /// Returns what the hook does to a call, if it says so.
    #[must_use]
    pub fn role(&self) -> Option<HookRole> {
        self.info.role
    }

    /// Returns the id of the tool call that the event is about.
    #[must_use]
    pub fn tool_call_id(&self) -> Option<&'a str> {
        self.tool_call
    }

    /// Returns how long the hook ran; for a hook around a call, without what is inside of it.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Returns whether the hook ran [in shadow](crate::hook::AgentHookExt::in_shadow): beside the call, which it did
    /// not change. The run is received when the hook has ended, which may be after the call.
    #[must_use]
    pub fn is_shadow(&self) -> bool {
        self.is_shadow
    }

    /// Returns what a hook [in shadow](Self::is_shadow) would have done here. `None`: nothing, or what it decided about the
    /// tool call before. [`HookFlow::Continue`]: it would have changed what it saw, and let the call go on. Else how it would
    /// have ended the step; [`HookFlow::Failed`] and [`HookFlow::Panicked`] count too.
    #[must_use]
    pub fn would(&self) -> Option<HookFlow> {
        self.would
    }

    /// Returns how the hook ended.
    #[must_use]
    pub fn flow(&self) -> HookFlow {
        self.flow
    }

    /// Returns whether the hook changed what the event or the call holds. The chunks of an answer,
    /// which a hook around a model call may rewrite, do not count.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        self.contents.iter().any(|(before, after)| !before.is_same(after))
    }

    /// Returns what the hook changed, each with its place: a path such as
    /// `messages[2].content[0].text`, `tool_use.input.path` or `tool_result.output`. Arguments that
    /// are [hidden](crate::message::ToolUse::hide) are not in it.
    ///
    /// What a hook removed is here, so pass no values on that a hook of the role
    /// [`Redacts`](HookRole::Redacts) changed. Of a hook in shadow, the places alone are here.
    #[must_use]
    pub fn changes(&self) -> Vec<HookChange> {
        let mut changes = Vec::new();
        for (before, after) in self.contents {
            before.compare(after, &mut changes);
        }
        if self.is_shadow {
            for change in &mut changes {
                (change.before, change.after) = (None, None);
            }
        }
        changes
    }
}

impl fmt::Debug for HookRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookRun")
            .field("hook", &self.info.name)
            .field("event", &self.event)
            .field("flow", &self.flow)
            .field("elapsed", &self.elapsed)
            .finish_non_exhaustive()
    }
}
