//! One version of a policy.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hooks_agent_core::hook::{AgentHook, ShadowCounts, Shadowed};
use hooks_agent_core::react::HookSet;

use crate::policy::merge::{Loaded, MadeCommands, MadeHook, MadeLimits, Merged};

/// How many names of agents have their hooks kept.
const MOST_AGENTS: usize = 1024;

/// One version of a policy, which does not change.
pub(super) struct Version {
    pub(super) number: u64,
    /// The digest of the files.
    pub(super) digest: [u8; 32],
    pub(super) merged: Merged,
    hooks: Vec<MadeHook>,
    commands: MadeCommands,
    /// The limits, and those in shadow.
    limits: [MadeLimits; 2],
    /// The hooks by the name of an agent: an agent registers each of these sets once.
    sets: Mutex<HashMap<Box<str>, HookSet>>,
}

impl Version {
    /// Takes what was loaded. `last` is the version before.
    pub(super) fn new(loaded: Loaded, digest: [u8; 32], last: Option<&Self>) -> Self {
        let Loaded { merged, hooks, commands } = loaded;
        let limits = [false, true].map(|in_shadow| {
            let own = merged.limits(in_shadow);
            let Some(place) = own.place() else { return MadeLimits::default() };
            let is_same = |last: &&Self| {
                let last = last.merged.limits(in_shadow);
                (last.most(), last.denied()) == (own.most(), own.denied())
            };
            match last.filter(is_same) {
                Some(last) => last.limits[usize::from(in_shadow)].at(place),
                None => MadeLimits::new(own.most(), own.denied(), in_shadow).at(place),
            }
        });
        let number = last.map_or(1, |last| last.number + 1);
        Self { number, digest, merged, hooks, commands, limits, sets: Mutex::default() }
    }

    pub(super) fn made(&self) -> &[MadeHook] {
        &self.hooks
    }

    pub(super) fn commands(&self) -> &MadeCommands {
        &self.commands
    }

    /// Returns what is in shadow, by name, with what it would have done.
    pub(super) fn shadow_counts(&self) -> Vec<(String, ShadowCounts)> {
        let whole = self.shadows().map(|shadow| (shadow.name(), shadow.counts()));
        let parts = self.hooks.iter().flat_map(MadeHook::shadow_parts);
        whole.chain(parts.map(|part| (part.name().to_owned(), part.counts()))).collect()
    }

    /// Returns what is in shadow.
    pub(super) fn shadows(&self) -> impl Iterator<Item = &Shadowed> {
        let limits = self.limits.iter().filter_map(|limits| limits.shadow.as_ref());
        let hooks = self.hooks.iter().filter_map(MadeHook::shadow);
        limits.chain(self.commands.shadow()).chain(hooks)
    }

    /// Returns the hooks of an agent: the limits, the commands, then those of its name, highest
    /// layer first. Agents order them by their priorities.
    pub(super) fn hooks_of(&self, agent: &str) -> HookSet {
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(set) = sets.get(agent) {
            return set.clone();
        }
        let meant = self.hooks.iter().filter(|hook| hook.agents.is_match(agent));
        let of_all = self.limits.iter().map(|limits| &limits.set).chain(self.commands.sets());
        let set = HookSet::join(of_all.chain(meant.map(|hook| &hook.set)));
        if sets.len() == MOST_AGENTS {
            sets.clear();
        }
        sets.insert(agent.into(), set.clone());
        set
    }
}

/// What the last attempt to load the files came to.
pub(super) struct Attempt {
    pub(super) digest: [u8; 32],
    pub(super) has_failed: bool,
}

/// The version of a call, which its root call chose.
pub(super) type Pinned = std::sync::OnceLock<Arc<Version>>;
