//! One version of a policy.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hooks_agent_core::react::HookSet;

use crate::policy::merge::{LimitsHook, Loaded, MadeCommands, MadeHook, Merged};

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
    limits: HookSet,
    /// The hooks by the name of an agent: an agent registers each of these sets once.
    sets: Mutex<HashMap<Box<str>, HookSet>>,
}

impl Version {
    /// Takes what was loaded. `last` is the version before.
    pub(super) fn new(loaded: Loaded, digest: [u8; 32], last: Option<&Self>) -> Self {
        let Loaded { merged, hooks, commands } = loaded;
        let place = merged.place_of_limits().cloned();
        let limits = |merged: &Merged| {
            (merged.max_iters(), merged.deny_tools().map(str::to_owned).collect::<Vec<_>>())
        };
        let limits = match last.filter(|last| limits(&last.merged) == limits(&merged)) {
            Some(last) => last.limits.clone(),
            None => {
                let (max_iters, denied) = limits(&merged);
                LimitsHook::new(max_iters, denied).map(HookSet::of).unwrap_or_default()
            }
        };
        let limits = place.map_or_else(HookSet::default, |place| place.of_set(&limits));
        let number = last.map_or(1, |last| last.number + 1);
        Self { number, digest, merged, hooks, commands, limits, sets: Mutex::default() }
    }

    pub(super) fn made(&self) -> &[MadeHook] {
        &self.hooks
    }

    pub(super) fn commands(&self) -> &MadeCommands {
        &self.commands
    }

    /// Returns the hooks of an agent: the limits, the commands, then those of its name, highest
    /// layer first. Agents order them by their priorities.
    pub(super) fn hooks_of(&self, agent: &str) -> HookSet {
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(set) = sets.get(agent) {
            return set.clone();
        }
        let meant = self.hooks.iter().filter(|hook| hook.agents.is_match(agent));
        let of_all = [&self.limits, &self.commands.set];
        let set = HookSet::join(of_all.into_iter().chain(meant.map(|hook| &hook.set)));
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
