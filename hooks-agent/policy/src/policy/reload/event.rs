//! The reloads of a policy as events.

use std::fmt;

use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::broadcast::{Receiver, Sender, channel};

use crate::policy::error::PolicyErrors;
use crate::policy::merge::MergedHook;
use crate::policy::version::Version;

/// How many events wait for a receiver.
const MOST: usize = 64;

/// A reload of a policy, or its failure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyEvent {
    /// Calls that begin now run what the files say. If files that failed are again what they were
    /// before, the version stays the same.
    Reloaded(Reloaded),
    /// Something is wrong with the files. The last version stays.
    Failed(PolicyErrors),
}

/// What a reload changed: names of hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reloaded {
    /// The number of the version with which calls begin now.
    pub version: u64,
    /// Whether files are other than before.
    pub has_changed: bool,
    /// The hooks that are new.
    pub added: Vec<String>,
    /// The hooks whose entries are gone.
    pub removed: Vec<String>,
    /// The hooks that are other than before: their options, agents, places.
    pub changed: Vec<String>,
    /// Whether the limits are other than before.
    pub limits_changed: bool,
}

impl Reloaded {
    pub(crate) fn unchanged(version: u64) -> Self {
        let (added, removed, changed) = (Vec::new(), Vec::new(), Vec::new());
        Self { version, has_changed: false, added, removed, changed, limits_changed: false }
    }

    pub(in crate::policy) fn between(last: &Version, next: &Version) -> Self {
        let (old, new) = (last.merged.hooks(), next.merged.hooks());
        let mut reloaded = Self { has_changed: true, ..Self::unchanged(next.number) };
        for hook in new {
            match old.iter().find(|it| it.name() == hook.name()) {
                None => reloaded.added.push(hook.name().to_owned()),
                Some(it) if !it.does_the_same(hook) => {
                    reloaded.changed.push(hook.name().to_owned());
                }
                Some(_) => {}
            }
        }
        let is_gone = |name: &str| new.iter().all(|hook| hook.name() != name);
        let removed = old.iter().map(MergedHook::name).filter(|name| is_gone(name));
        reloaded.removed = removed.map(str::to_owned).collect();
        reloaded.limits_changed = [false, true].iter().any(|in_shadow| {
            let (old, new) = (last.merged.limits(*in_shadow), next.merged.limits(*in_shadow));
            (old.most(), old.denied()) != (new.most(), new.denied())
        });
        reloaded
    }
}

/// Shows the version and what changed, in one line.
impl fmt::Display for Reloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "version {}", self.version)?;
        if !self.has_changed {
            return f.write_str(", unchanged");
        }
        let lists =
            [("added", &self.added), ("removed", &self.removed), ("changed", &self.changed)];
        for (what, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
            write!(f, ", {what}: {}", names.join(" "))?;
        }
        if self.limits_changed { f.write_str(", limits changed") } else { Ok(()) }
    }
}

/// Receives the reloads of a policy. A receiver that is slower than 64 events misses the oldest.
#[derive(Debug)]
#[must_use]
pub struct PolicyEvents(Receiver<PolicyEvent>);

impl PolicyEvents {
    /// Waits for the next event. `None` if the policy and its watchers are gone.
    pub async fn next(&mut self) -> Option<PolicyEvent> {
        loop {
            match self.0.recv().await {
                Ok(event) => return Some(event),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Waits for the next event on a thread without a runtime. `None` if the policy and its
    /// watchers are gone.
    ///
    /// # Panics
    /// In an asynchronous task.
    pub fn wait(&mut self) -> Option<PolicyEvent> {
        loop {
            match self.0.blocking_recv() {
                Ok(event) => return Some(event),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Returns the next event, if there is one.
    pub fn try_next(&mut self) -> Option<PolicyEvent> {
        loop {
            match self.0.try_recv() {
                Ok(event) => return Some(event),
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => return None,
            }
        }
    }
}

/// Sends events, and reports them through `tracing`.
pub(crate) struct EventSender(Sender<PolicyEvent>);

impl EventSender {
    pub(crate) fn new() -> Self {
        Self(channel(MOST).0)
    }

    pub(crate) fn subscribe(&self) -> PolicyEvents {
        PolicyEvents(self.0.subscribe())
    }

    pub(crate) fn send(&self, event: PolicyEvent) {
        match &event {
            PolicyEvent::Reloaded(reloaded) => {
                tracing::info!(target: "hooks_agent::policy", "the policy is reloaded: {reloaded}");
            }
            PolicyEvent::Failed(errors) => tracing::error!(
                target: "hooks_agent::policy",
                "the policy stays as it was: {errors}"
            ),
        }
        // Nobody may listen.
        drop(self.0.send(event));
    }
}
