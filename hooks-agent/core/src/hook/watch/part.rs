//! A part of a hook that watchers see as a hook of its own.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hooks_core::{HookGroup, HookRole, Level};

use crate::call::CallContext;
use crate::hook::watch::hook_info::HookInfo;
use crate::hook::watch::hook_run::{HookFlow, HookRun};
use crate::hook::watch::watchers::{is_watched, tell_watchers};

/// A part of a hook, such as a plug-in, that decides for itself. A [`HookWatcher`](crate::hook::HookWatcher) sees its
/// decisions under its own name, as if it were a hook. Clones are the same part.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_agent::hook::{HookFlow, HookPart};
/// use hooks_agent::prelude::*;
///
/// struct Plugins(HookPart);
///
/// #[agent_hook]
/// impl Plugins {
///     fn ask(&self, event: &mut PreActing<'_>) -> Flow {
///         // A plug-in decides ..
///         let id = Some(&*event.tool_use().id);
///         self.0.decided(event.context(), "plugin", id, HookFlow::Refuse, Duration::ZERO);
///         event.refuse("a plug-in says no")
///     }
/// }
///
/// let hook = Plugins(HookPart::new("acme"));
/// # let _ = hook;
/// ```
#[derive(Clone)]
#[must_use]
pub struct HookPart(Arc<HookInfo>);

impl HookPart {
    /// Creates a part of this name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self::of_role(name, None)
    }

    /// Creates a part of this name that has a role.
    pub fn of_role(name: impl Into<Arc<str>>, role: Option<HookRole>) -> Self {
        let name = name.into();
        Self(Arc::new(HookInfo {
            asks_as: name.clone(),
            name,
            group: HookGroup::new("part of a hook"),
            level: Level::Instance,
            priority: 0,
            role,
            counter: None,
            owner: None,
        }))
    }

    /// Returns whether somebody watches the hooks of a call.
    #[must_use]
    pub fn is_watched(&self, cx: &CallContext) -> bool {
        is_watched(cx, self.0.group)
    }

    /// Tells the watchers of a call what the part decided: where, maybe about which tool call, and how long it took.
    pub fn decided(
        &self,
        cx: &CallContext,
        event: &'static str,
        tool_call_id: Option<&str>,
        flow: HookFlow,
        elapsed: Duration,
    ) {
        self.tell(cx, event, tool_call_id, (flow, elapsed, false));
    }

    /// Tells the watchers of a call what the part would have decided.
    pub fn would(
        &self,
        cx: &CallContext,
        event: &'static str,
        tool_call_id: Option<&str>,
        flow: HookFlow,
        elapsed: Duration,
    ) {
        self.tell(cx, event, tool_call_id, (flow, elapsed, true));
    }

    fn tell(
        &self,
        cx: &CallContext,
        event: &'static str,
        tool_call: Option<&str>,
        (flow, elapsed, is_shadow): (HookFlow, Duration, bool),
    ) {
        let would = (is_shadow && flow != HookFlow::Continue).then_some(flow);
        let info = &self.0;
        let contents = &[];
        tell_watchers(&HookRun {
            cx,
            info,
            event,
            tool_call,
            elapsed,
            flow,
            contents,
            is_shadow,
            would,
        });
    }
}

impl fmt::Debug for HookPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HookPart").field(&self.0.name).finish()
    }
}
