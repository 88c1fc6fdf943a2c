//! Hooks that files choose.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use hooks_agent_core::call::CallContext;
use hooks_agent_core::hook::ShadowCounts;
use hooks_agent_core::react::{HookSet, HookSource};
use sha2::{Digest, Sha256};

use crate::policy::error::PolicyErrors;
use crate::policy::file::{Read, Source};
use crate::policy::merge::{CommandSetup, Load, Loaded, Merged};
use crate::policy::registry::Registry;
use crate::policy::reload::{EventSender, PolicyEvent, PolicyEvents, Reloaded};
use crate::policy::version::{Attempt, Pinned, Version};

/// Hooks, and limits, that operators choose in files. A clone shares the policy.
///
/// A policy is a [`HookSource`]: add it to the builder of an agent. A call runs the version of the
/// policy with which it began until it ends, with the calls that are part of it; calls that begin
/// later run the version of that time. A call that resumes another is a later call.
///
/// Files are read when the policy is [opened](crate::policy::PolicyBuilder::open), and again by
/// [`reload`](Self::reload), by a [watcher](Self::watch) or by [polling](Self::poll). It is all or
/// nothing: if anything is wrong, the last version stays. [The guide] is
/// about the files.
///
/// ```
/// use hooks_agent::policy::{Policy, PolicyFile};
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let file = PolicyFile::text("policy.toml", r#"
///     version = 1
///     [[hook]]
///     use = "pii_detection"
///     agents = ["support-*"]
///     with = { kinds = ["email"], output = true }
/// "#);
/// # #[cfg(feature = "pii")] {
/// let policy = Policy::builder().project(file).open()?;
/// let agent = |name: &str| {
///     let model = ScriptedModel::new("fixed", |_| "Write to ada@example.com");
///     ReActAgent::builder(name).model(model).hook_source(policy.clone()).build()
/// };
/// let reply = agent("support-1")?.call("Whom do I ask?").await?;
/// assert_eq!(reply.text(), "Write to [REDACTED_EMAIL]");
/// let reply = agent("billing")?.call("Whom do I ask?").await?;
/// assert_eq!(reply.text(), "Write to ada@example.com");
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/policy/index.html
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder by `hook_source`"]
pub struct Policy {
    shared: Arc<Shared>,
}

struct Shared {
    /// Tells the policies of a process apart.
    id: usize,
    setup: Setup,
    current: RwLock<Arc<Version>>,
    /// Locked while the files are loaded, so that one load follows another.
    attempt: Mutex<Attempt>,
    events: EventSender,
}

/// What a builder says.
pub(super) struct Setup {
    /// The files, highest layer first.
    pub(super) sources: Vec<Source>,
    pub(super) registry: Registry,
    /// Where commands run.
    pub(super) commands: CommandSetup,
    /// Whether all but the managed files are in shadow.
    pub(super) shadows: bool,
    pub(super) recheck: Duration,
}

type Files = Vec<(Source, Read)>;

impl Setup {
    /// Reads the files, and returns them with their digest.
    fn read(&self, last: Option<&Version>) -> (Files, [u8; 32]) {
        let mut digest = Sha256::new();
        let read = self.sources.iter().enumerate().map(|(index, source)| {
            let was_there = last.is_some_and(|last| last.merged.had_file(index));
            let read = source.read(was_there);
            read.digest(&mut digest);
            (source.clone(), read)
        });
        (read.collect(), digest.finalize().into())
    }

    fn load(
        &self,
        files: &Files,
        last: Option<&Version>,
        opens_files: bool,
    ) -> Result<Loaded, PolicyErrors> {
        let (registry, commands) = (&self.registry, &self.commands);
        let last_commands = last.map(Version::commands);
        let last = last.map(Version::made).unwrap_or_default();
        let shadows = self.shadows;
        let load = Load { files, registry, last, commands, last_commands, shadows, opens_files };
        load.run().map_err(PolicyErrors::new)
    }

    pub(super) fn check(&self) -> Result<Merged, PolicyErrors> {
        let (files, _) = self.read(None);
        Ok(self.load(&files, None, false)?.merged)
    }
}

impl Policy {
    pub(super) fn open(setup: Setup) -> Result<Self, PolicyErrors> {
        static POLICIES: AtomicUsize = AtomicUsize::new(0);

        let (files, digest) = setup.read(None);
        let version = Version::new(setup.load(&files, None, true)?, digest, None);
        let shared = Shared {
            id: POLICIES.fetch_add(1, Ordering::Relaxed),
            setup,
            current: RwLock::new(Arc::new(version)),
            attempt: Mutex::new(Attempt { digest, has_failed: false }),
            events: EventSender::new(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Checks the files as they are now, and returns what they would come to. Changes nothing.
    ///
    /// # Errors
    /// Everything that is wrong with the files.
    pub fn check(&self) -> Result<Merged, PolicyErrors> {
        self.shared.setup.check()
    }

    /// Returns what the files came to when they were last loaded.
    #[must_use]
    pub fn merged(&self) -> Merged {
        self.current().merged.clone()
    }

    /// Returns what the entries that run in shadow would have done since they do: hooks by their names, `commands in
    /// shadow` and `policy limits in shadow`, and the rules and quotas of a file.
    ///
    /// ```
    /// use hooks_agent::policy::{Policy, PolicyFile};
    ///
    /// let file = PolicyFile::text("policy.toml", r#"
    ///     version = 1
    ///     [[hook]]
    ///     use = "tool_call_limit"
    ///     mode = "shadow"
    ///     with = { run = 3 }
    /// "#);
    /// let policy = Policy::builder().project(file).open()?;
    /// let (name, counts) = &policy.shadow_counts()[0];
    /// assert_eq!((name.as_str(), counts.runs), ("tool_call_limit", 0));
    /// # Ok::<(), hooks_agent::policy::PolicyErrors>(())
    /// ```
    #[must_use]
    pub fn shadow_counts(&self) -> Vec<(String, ShadowCounts)> {
        self.current().shadow_counts()
    }

    /// Waits until the entries that run in shadow have seen what calls have done until now.
    pub async fn shadow_caught_up(&self) {
        let version = self.current();
        for shadow in version.shadows() {
            shadow.caught_up().await;
        }
    }

    /// Returns the number of the version with which calls begin now: 1, and 1 more after each
    /// reload that changed something.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.current().number
    }

    /// Returns a receiver of the reloads and failures from now on.
    pub fn subscribe(&self) -> PolicyEvents {
        self.shared.events.subscribe()
    }

    /// Reads the files again. If they are what they were, nothing happens. A hook whose name and
    /// options stay the same goes on with what it counted.
    ///
    /// It blocks while it reads files and makes hooks.
    ///
    /// # Errors
    /// Everything that is wrong with the files. The last version stays, also if a file is gone.
    pub fn reload(&self) -> Result<Reloaded, PolicyErrors> {
        self.load_again(true)
    }

    /// Reads the files again; if they are what they were at the last attempt, nothing happens.
    pub(super) fn reload_if_changed(&self) {
        // The receivers of events have the errors.
        drop(self.load_again(false));
    }

    fn load_again(&self, always: bool) -> Result<Reloaded, PolicyErrors> {
        let Shared { setup, current, attempt, events, .. } = &*self.shared;
        let mut attempt = attempt.lock().unwrap_or_else(PoisonError::into_inner);
        let last = self.current();
        let (files, digest) = setup.read(Some(&last));
        let is_again = attempt.digest == digest;
        if digest == last.digest {
            let has_failed = std::mem::replace(&mut attempt.has_failed, false);
            attempt.digest = digest;
            let reloaded = Reloaded::unchanged(last.number);
            if has_failed {
                events.send(PolicyEvent::Reloaded(reloaded.clone()));
            }
            return Ok(reloaded);
        }
        if is_again && !always {
            return Ok(Reloaded::unchanged(last.number));
        }
        *attempt = Attempt { digest, has_failed: true };
        let loaded = setup.load(&files, Some(&last), true).inspect_err(|errors| {
            events.send(PolicyEvent::Failed(errors.clone()));
        })?;
        attempt.has_failed = false;
        let next = Arc::new(Version::new(loaded, digest, Some(&last)));
        let reloaded = Reloaded::between(&last, &next);
        *current.write().unwrap_or_else(PoisonError::into_inner) = next;
        events.send(PolicyEvent::Reloaded(reloaded.clone()));
        Ok(reloaded)
    }

    fn current(&self) -> Arc<Version> {
        self.shared.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the files.
    pub(super) fn paths(&self) -> impl Iterator<Item = &std::path::Path> {
        self.shared.setup.sources.iter().filter_map(Source::path)
    }

    pub(super) fn recheck(&self) -> Duration {
        self.shared.setup.recheck
    }
}

impl HookSource for Policy {
    fn hooks(&self, cx: &CallContext) -> HookSet {
        let mut root = cx;
        while let Some(parent) = root.parent() {
            root = parent;
        }
        // All calls that are part of one root call have its version.
        let pinned = root.hook_state::<Pinned>(self.shared.id);
        pinned.get_or_init(|| self.current()).hooks_of(cx.agent_name())
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<_> = self.shared.setup.sources.iter().map(Source::name).collect();
        f.debug_struct("Policy")
            .field("files", &files)
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}
