//! A hook that is registered in shadow.

use std::fmt;
use std::sync::Arc;

use hooks_core::HookOrder;

use crate::event::EventMask;
use crate::hook::agent_hook::{AgentHook, ToolLabels};
use crate::hook::around::AroundMask;
use crate::hook::boxed::DynAgentHook;
use crate::hook::shadow::counts::ShadowCounts;
use crate::hook::shadow::executor::Shadow;
use crate::hook::shadow::part::ShadowPart;

/// An event hook that runs in shadow. Created by
/// [`AgentHookExt::in_shadow`](crate::hook::AgentHookExt::in_shadow). Clones are one hook.
#[derive(Clone)]
#[must_use]
pub struct Shadowed(Shadow);

impl Shadowed {
    pub(crate) fn new(hook: Arc<dyn DynAgentHook>) -> Self {
        Self(Shadow::new(hook))
    }

    /// Returns what the hook would have done until now.
    #[must_use]
    pub fn counts(&self) -> ShadowCounts {
        self.0.counts()
    }

    /// Waits until the hook has seen what calls have done: those that have ended, and what runs now. For reports, and
    /// for tests. Not inside of a call that it waits for, and not while calls never pause: it does not end then.
    pub async fn caught_up(&self) {
        self.0.caught_up().await;
    }
}

impl AgentHook for Shadowed {
    fn name(&self) -> String {
        self.0.hook().name()
    }

    fn priority(&self) -> i32 {
        self.0.hook().priority()
    }

    fn is_parallel(&self) -> bool {
        self.0.hook().is_parallel()
    }

    fn order(&self) -> HookOrder {
        self.0.hook().order()
    }

    fn events(&self) -> EventMask {
        self.0.hook().events()
    }

    /// It copies the event, and waits for nothing.
    fn sync_events(&self) -> EventMask {
        EventMask::ALL
    }

    fn answers(&self) -> EventMask {
        EventMask::NONE
    }

    fn around(&self) -> AroundMask {
        self.0.hook().around()
    }

    fn answers_around(&self) -> AroundMask {
        AroundMask::NONE
    }

    fn inherit(&self) -> bool {
        self.0.hook().inherit()
    }

    fn always(&self) -> bool {
        self.0.hook().always()
    }

    /// What a call replays, it has seen.
    fn once(&self) -> bool {
        true
    }

    fn tool_names(&self) -> Vec<String> {
        self.0.hook().tool_names()
    }

    fn tool_labels(&self) -> Option<ToolLabels> {
        self.0.hook().tool_labels()
    }

    fn not_in_shadow(&self) -> Option<String> {
        let hook = self.0.hook();
        let twice = || hook.__shadow().map(|_| "it is in shadow already".to_owned());
        let outside = || {
            let around = hook.around();
            let is_outside =
                around.contains(AroundMask::CALL) || around.contains(AroundMask::MODEL_ATTEMPT);
            is_outside.then(|| "it runs around whole calls, or around attempts".to_owned())
        };
        hook.not_in_shadow().or_else(twice).or_else(outside)
    }

    fn shadow_parts(&self) -> Vec<ShadowPart> {
        self.0.hook().shadow_parts()
    }

    fn __shadow(&self) -> Option<Shadow> {
        Some(self.0.clone())
    }
}

impl fmt::Debug for Shadowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
