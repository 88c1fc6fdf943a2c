//! A hook of a policy.

use std::fmt;
use std::sync::Arc;

use hooks_agent_core::hook::{
    AgentHook, AgentHookExt, AroundMask, DynAgentHook, ShadowPart, Shadowed,
};
use hooks_agent_core::hooks_core::HookOrder;
use hooks_agent_core::options::Globs;
use hooks_agent_core::react::HookSet;

use crate::policy::error::Place;
use crate::policy::merge::merged::OptionsDigest;

/// A hook that was made of an entry of a file.
pub(crate) struct MadeHook {
    name: String,
    /// The digest of the options.
    digest: OptionsDigest,
    hook: Arc<Box<dyn DynAgentHook>>,
    placed: Placement,
    /// What it would have done, if it is in shadow.
    shadow: Option<Shadowed>,
    pub(crate) set: HookSet,
    pub(crate) agents: Globs,
}

/// Where a hook runs.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Placement {
    pub(crate) priority: Option<i32>,
    /// Where it stands by the names of others.
    pub(crate) order: HookOrder,
    pub(crate) is_parallel: Option<bool>,
    pub(crate) inherits: Option<bool>,
    pub(crate) is_shadow: bool,
}

impl Placement {
    fn set(&self, hook: impl AgentHook) -> (Option<Shadowed>, HookSet) {
        if !self.is_shadow {
            return (None, HookSet::of(hook));
        }
        let shadowed = hook.in_shadow();
        (Some(shadowed.clone()), HookSet::of(shadowed))
    }
}

impl MadeHook {
    pub(crate) fn new(
        name: String,
        digest: OptionsDigest,
        hook: Box<dyn DynAgentHook>,
        placed: Placement,
        agents: Globs,
        place: &Place,
    ) -> Self {
        Self::of_shared(name, digest, Arc::new(hook), placed, agents).at(place)
    }

    fn of_shared(
        name: String,
        digest: OptionsDigest,
        hook: Arc<Box<dyn DynAgentHook>>,
        placed: Placement,
        agents: Globs,
    ) -> Self {
        let named = hook.clone().named(name.clone()).ordered(placed.order.clone());
        let named = named
            .with_priority(placed.priority.unwrap_or_else(|| hook.priority()))
            .inherited(placed.inherits.unwrap_or_else(|| hook.inherit()))
            .parallel(placed.is_parallel.unwrap_or_else(|| hook.is_parallel()));
        let (shadow, set) = placed.set(named);
        Self { name, digest, hook, placed, shadow, set, agents }
    }

    /// Sets where it stands in its file.
    fn at(self, place: &Place) -> Self {
        Self { set: place.of_set(&self.set), ..self }
    }

    /// Returns whether it is the hook of this name and these options, in shadow or in force.
    pub(crate) fn is(&self, name: &str, digest: OptionsDigest, is_shadow: bool) -> bool {
        // What a hook in shadow counts, one in force must not count on.
        self.name == name && self.digest == digest && self.placed.is_shadow == is_shadow
    }

    /// Returns the same hook, which keeps what it counted, at another place and in other agents.
    pub(crate) fn moved(&self, placed: Placement, agents: Globs, place: &Place) -> Self {
        let (name, digest, hook) = (self.name.clone(), self.digest, self.hook.clone());
        if placed != self.placed {
            return Self::of_shared(name, digest, hook, placed, agents).at(place);
        }
        let (shadow, set) = (self.shadow.clone(), self.set.clone());
        Self { name, digest, hook, placed, shadow, set, agents }.at(place)
    }

    /// Returns why it cannot run in shadow, if it does.
    pub(crate) fn not_in_shadow(&self) -> Option<String> {
        self.shadow.as_ref().and_then(AgentHook::not_in_shadow)
    }

    /// Returns whether it is to run at once with others, and cannot.
    pub(crate) fn cannot_be_parallel(&self) -> bool {
        self.placed.is_parallel == Some(true) && self.hook.around() != AroundMask::NONE
    }

    /// Returns the hook in shadow, if it is.
    pub(crate) fn shadow(&self) -> Option<&Shadowed> {
        self.shadow.as_ref()
    }

    /// Returns its parts that are in shadow while it is not.
    pub(crate) fn shadow_parts(&self) -> Vec<ShadowPart> {
        self.hook.shadow_parts()
    }

    pub(crate) fn priority(&self) -> i32 {
        self.placed.priority.unwrap_or_else(|| self.hook.priority())
    }
}

impl fmt::Debug for MadeHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MadeHook").field("name", &self.name).finish_non_exhaustive()
    }
}
