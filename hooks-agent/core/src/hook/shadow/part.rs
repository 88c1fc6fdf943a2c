//! A part of a hook that is in shadow while the hook is not.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hooks_core::{HookGroup, Level};

use crate::call::CallContext;
use crate::event::EventKind;
use crate::hook::shadow::counts::{Counters, ShadowCounts};
use crate::hook::watch::{HookFlow, HookInfo, HookRun, tell_watchers};

/// A part of a hook that is in shadow while the hook is not, such as one rule of many. The hook says what the part
/// [would have done](Self::would), and lists it in [`AgentHook::shadow_parts`](crate::hook::AgentHook::shadow_parts): then it
/// is counted and told like a hook [in shadow](crate::hook::AgentHookExt::in_shadow). Clones are one part.
///
/// ```
/// use hooks_agent::hook::{HookFlow, ShadowPart};
/// use hooks_agent::prelude::*;
/// # use serde_json::json;
///
/// /// Is to refuse payments at night.
/// struct Office(ShadowPart);
///
/// #[agent_hook(shadow_parts = |hook: &Self| vec![hook.0.clone()])]
/// impl Office {
///     fn at_night(&self, event: &mut PreActing<'_>) {
///         let flow = if event.tool_use().name == "pay" { HookFlow::Refuse } else { HookFlow::Continue };
///         self.0.would(event.context(), EventKind::PreActing, Some(&event.tool_use().id), flow);
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let night = ShadowPart::new("the night");
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(_) => "Paid.".into(),
/// #         None => ToolUse::new("1", "pay", json!({})).into(),
/// #     }
/// # });
/// // `model` pays once.
/// let pay = FunctionTool::new("pay", "Pays.", async |_: serde_json::Value| "paid");
/// let builder = ReActAgent::builder("clerk").model(model).tool(pay);
/// let agent = builder.hook(Office(night.clone())).build()?;
/// assert_eq!(agent.call("Pay").await?.text(), "Paid.");
/// assert_eq!(night.counts().refused, 1);
/// assert_eq!(agent.shadow_counts()[0], ("the night".to_owned(), night.counts()));
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct ShadowPart(Arc<Inner>);

struct Inner {
    info: HookInfo,
    counters: Counters,
}

impl ShadowPart {
    /// Creates a part of this name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        let name = name.into();
        let info = HookInfo {
            asks_as: name.clone(),
            name,
            group: HookGroup::new("part in shadow"),
            level: Level::Instance,
            priority: 0,
            role: None,
            counter: None,
            owner: None,
        };
        Self(Arc::new(Inner { info, counters: Counters::default() }))
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.info.name
    }

    /// Counts what the part would have done at an event, maybe about a tool call, and tells the watchers of the call. Pass
    /// [`HookFlow::Continue`] if it would have done nothing: that counts as a run alone. Nothing is merged: if your hook sees a tool
    /// call several times, call this once for it. What a call replays does not count.
    pub fn would(
        &self,
        cx: &CallContext,
        event: EventKind,
        tool_call_id: Option<&str>,
        flow: HookFlow,
    ) {
        if cx.replays(tool_call_id) {
            return;
        }
        let diverges = self.0.counters.ran(flow, false);
        if diverges {
            let has_diverged = cx.hook_state::<AtomicBool>(Arc::as_ptr(&self.0).addr());
            if !has_diverged.swap(true, Ordering::Relaxed) {
                self.0.counters.diverged();
            }
        }
        tell_watchers(&HookRun {
            cx,
            info: &self.0.info,
            event: event.name(),
            tool_call: tool_call_id,
            elapsed: Duration::ZERO,
            flow,
            contents: &[],
            is_shadow: true,
            would: diverges.then_some(flow),
        });
    }

    /// Returns what it would have done until now.
    #[must_use]
    pub fn counts(&self) -> ShadowCounts {
        self.0.counters.counts()
    }
}

impl fmt::Debug for ShadowPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShadowPart").field("name", &self.name()).finish_non_exhaustive()
    }
}
