//! The thread that looks at the files of a policy.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::policy::hook_source::Policy;

/// How long a directory is quiet before its files are read.
const QUIET: Duration = Duration::from_millis(200);

/// How long events may follow each other before the files are read all the same.
const LONGEST: Duration = Duration::from_secs(2);

/// Why the files of a policy cannot be watched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// The system offers no events of files, or none more.
    #[error("cannot watch the files of the policy; use `poll`")]
    Watch(#[source] io::Error),
    /// The thread cannot be started.
    #[error("cannot start the thread that watches the policy")]
    Thread(#[source] io::Error),
}

/// Reloads a policy when its files change, until it is dropped. Dropping it waits for a reload that
/// runs.
#[must_use = "dropping it ends the watch"]
pub struct PolicyWatcher {
    messages: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

enum Message {
    Changed,
    Stop,
}

impl Policy {
    /// Reloads the policy when its files change: saved in place, by a rename, or behind a symbolic
    /// link. The directories of the files are watched. After a change they must be quiet for 200
    /// ms; then the contents are compared, and the same bytes change nothing. Because events of
    /// file systems get lost, the contents are also compared
    /// [every 10 seconds](crate::policy::PolicyBuilder::recheck_every).
    ///
    /// [`subscribe`](Self::subscribe) receives what came of it.
    ///
    /// # Errors
    /// [`WatchError`].
    pub fn watch(&self) -> Result<PolicyWatcher, WatchError> {
        let (messages, received) = channel();
        let changed = messages.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if event.is_ok_and(|event| !is_a_change(event.kind)) {
                return;
            }
            // The thread may have ended.
            drop(changed.send(Message::Changed));
        });
        let watcher = watcher.map_err(|error| WatchError::Watch(io::Error::other(error)))?;
        let mut directories = Directories { watcher, watched: BTreeSet::new() };
        directories.watch(self);
        // The files may have changed since they were loaded.
        drop(messages.send(Message::Changed));
        PolicyWatcher::start(self.clone(), messages, received, self.recheck(), Some(directories))
    }

    /// Reloads the policy when its files change, which are read in this interval: for mounts whose
    /// file system sends no events.
    ///
    /// # Errors
    /// [`WatchError::Thread`].
    pub fn poll(&self, interval: Duration) -> Result<PolicyWatcher, WatchError> {
        let (messages, received) = channel();
        PolicyWatcher::start(self.clone(), messages, received, interval, None)
    }
}

/// Returns whether an event may change what a file has. Reading a file is one too.
fn is_a_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
        _ => true,
    }
}

/// The directories of the files.
struct Directories {
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
}

impl Directories {
    /// Watches the directories as they are now: one may have been replaced.
    fn watch(&mut self, policy: &Policy) {
        let mut directories = BTreeSet::new();
        for path in policy.paths() {
            let links = path.canonicalize();
            for path in [Some(path), links.as_deref().ok()].into_iter().flatten() {
                directories.extend(path.parent().map(PathBuf::from));
            }
        }
        for gone in self.watched.difference(&directories) {
            drop(self.watcher.unwatch(gone));
        }
        for directory in &directories {
            // One that is not there yet is watched at a later look.
            if let Err(error) = self.watcher.watch(directory, RecursiveMode::NonRecursive) {
                let directory = directory.display();
                tracing::debug!(
                    target: "hooks_agent::policy",
                    "cannot watch {directory}: {error}"
                );
            }
        }
        self.watched = directories;
    }
}

impl PolicyWatcher {
    fn start(
        policy: Policy,
        messages: Sender<Message>,
        received: Receiver<Message>,
        interval: Duration,
        directories: Option<Directories>,
    ) -> Result<Self, WatchError> {
        let thread = thread::Builder::new().name("hooks-policy".to_owned());
        let thread = thread.spawn(move || run(&policy, &received, interval, directories));
        let thread = thread.map_err(WatchError::Thread)?;
        Ok(Self { messages, thread: Some(thread) })
    }
}

fn run(
    policy: &Policy,
    received: &Receiver<Message>,
    interval: Duration,
    mut directories: Option<Directories>,
) {
    loop {
        match received.recv_timeout(interval) {
            Ok(Message::Changed) => {
                if !becomes_quiet(received) {
                    return;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return,
        }
        // Before the files are read: what changes from now on causes an event.
        if let Some(directories) = &mut directories {
            directories.watch(policy);
        }
        policy.reload_if_changed();
    }
}

/// Waits until the events end. Returns whether to go on.
fn becomes_quiet(received: &Receiver<Message>) -> bool {
    let end = Instant::now() + LONGEST;
    loop {
        let rest = end.saturating_duration_since(Instant::now());
        match received.recv_timeout(QUIET.min(rest)) {
            Ok(Message::Changed) => {}
            Err(RecvTimeoutError::Timeout) => return true,
            Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

impl Drop for PolicyWatcher {
    fn drop(&mut self) {
        // The thread may have ended.
        drop(self.messages.send(Message::Stop));
        let Some(thread) = self.thread.take() else { return };
        if thread.thread().id() != thread::current().id() {
            drop(thread.join());
        }
    }
}

impl fmt::Debug for PolicyWatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicyWatcher").finish_non_exhaustive()
    }
}
