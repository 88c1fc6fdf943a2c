//! The threads of agents in memory, with a file behind them.

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;
use tokio::sync::{Mutex as AsyncMutex, Notify, watch};
use tokio::time::sleep;

use crate::thread::GuestThread;
use crate::threads::{GuestThreads, GuestThreadsError};

/// How many threads, and parents of sessions, stay in memory.
const MOST: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();

/// How long changes are gathered before they are written together.
const GATHER: Duration = Duration::from_millis(20);

/// How long a file that cannot be written is left alone.
const PAUSE: Duration = Duration::from_millis(200);

/// How often threads without an event for 30 days are forgotten.
const FORGET: Duration = Duration::from_hours(1);

/// One thread: nothing until it was read.
type Cell = Arc<AsyncMutex<Option<GuestThread>>>;

/// The threads of other agents, in memory: for one process that decides about all their events.
///
/// A file behind them is of this process alone. Changes are written to it together, by [`write_changes`](Self::write_changes), 20
/// milliseconds after the first of them: a process that is killed loses as much. While the file cannot be written, no thread
/// can be changed, so that no limit is forgotten.
///
/// ```
/// use hooks_agent::guest::LiveThreads;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let file = std::env::temp_dir().join(format!("hooks-agent-live-{}.db", std::process::id()));
/// let threads = LiveThreads::open(&file).await?;
/// let values = threads.update("ada", async |thread| {
///     thread.values.insert("calls".into(), 1.into());
///     thread.values.len()
/// });
/// assert_eq!(values.await?, 1);
/// threads.save().await?;
/// # drop(threads);
/// # std::fs::remove_file(&file)?;
/// # Ok(())
/// # }
/// ```
pub struct LiveThreads {
    path: PathBuf,
    /// What the file is, whatever its name.
    identity: Option<(u64, u64)>,
    file: AsyncMutex<GuestThreads>,
    kept: Mutex<Kept>,
    changed: Notify,
    /// Somebody waits for the disk.
    wanted: Notify,
    /// The last round that was written, or why it was not.
    written: watch::Sender<Round>,
}

/// What is in memory.
struct Kept {
    cells: LruCache<Arc<str>, Cell>,
    parents: LruCache<(String, String), String>,
    /// The threads that the next round writes, as they are.
    changed: HashMap<Arc<str>, GuestThread>,
    /// Those that are being written.
    writing: Arc<HashMap<Arc<str>, GuestThread>>,
    /// The round that takes them.
    round: u64,
}

#[derive(Clone, Default)]
struct Round {
    done: u64,
    failed: bool,
}

impl LiveThreads {
    /// Opens the file, for this process alone.
    ///
    /// # Errors
    /// [`GuestThreadsError::File`] if it cannot be read and written, or another process has it.
    pub async fn open(path: impl AsRef<Path> + Send) -> Result<Self, GuestThreadsError> {
        let path = path.as_ref().to_owned();
        let mut file = GuestThreads::open_alone(&path).await?;
        file.forget_old().await?;
        let identity = identity(&path);
        let kept = Kept {
            cells: LruCache::unbounded(),
            parents: LruCache::new(MOST),
            changed: HashMap::new(),
            writing: Arc::default(),
            round: 1,
        };
        Ok(Self {
            path,
            identity,
            file: AsyncMutex::new(file),
            kept: Mutex::new(kept),
            changed: Notify::new(),
            wanted: Notify::new(),
            written: watch::Sender::new(Round::default()),
        })
    }

    /// Returns the outermost session of one that is a part of another, as [`GuestThreads::outermost`] does.
    ///
    /// # Errors
    /// [`GuestThreadsError::File`] if the file cannot be read and written.
    pub async fn outermost(
        &self,
        session: &str,
        parent: &str,
    ) -> Result<String, GuestThreadsError> {
        let key = (session.to_owned(), parent.to_owned());
        if let Some(outermost) = self.kept().parents.get(&key) {
            return Ok(outermost.clone());
        }
        // Until it is kept here, nobody else learns of a parent.
        let mut file = self.file.lock().await;
        let outermost = file.outermost(session, parent).await?;
        let mut kept = self.kept();
        // A new parent may be one of sessions that are known.
        kept.parents.clear();
        kept.parents.put(key, outermost.clone());
        Ok(outermost)
    }

    /// Changes a thread while nobody else does. If this future is dropped, nothing is changed.
    ///
    /// # Errors
    /// [`GuestThreadsError`] if the thread cannot be read, or changes before could not be written.
    pub async fn update<R>(
        &self,
        thread: &str,
        change: impl AsyncFnOnce(&mut GuestThread) -> R,
    ) -> Result<R, GuestThreadsError> {
        if self.written.borrow().failed {
            return Err(not_written());
        }
        let id: Arc<str> = thread.into();
        let cell = self.kept().cell(&id);
        let mut thread = cell.lock().await;
        if thread.is_none() {
            let unwritten = self.kept().unwritten(&id);
            *thread = Some(match unwritten {
                Some(unwritten) => unwritten,
                None => self.file.lock().await.read(&id).await?,
            });
        }
        let mut after = thread.clone().unwrap_or_default();
        let changed = change(&mut after).await;
        if thread.as_ref() != Some(&after) {
            self.kept().changed.insert(id, after.clone());
            *thread = Some(after);
            self.changed.notify_one();
        }
        Ok(changed)
    }

    /// Waits until all that changed before this is on the disk, while [`write_changes`](Self::write_changes) runs.
    ///
    /// # Errors
    /// [`GuestThreadsError::File`] if it cannot be written.
    pub async fn durable(&self) -> Result<(), GuestThreadsError> {
        let round = {
            let kept = self.kept();
            if kept.changed.is_empty() { kept.round - 1 } else { kept.round }
        };
        self.wanted.notify_one();
        let mut written = self.written.subscribe();
        let done = written.wait_for(|it| it.failed || it.done >= round).await;
        match done {
            Ok(round) if !round.failed => Ok(()),
            _ => Err(not_written()),
        }
    }

    /// Writes changes, until it is dropped: for a task of its own.
    pub async fn write_changes(&self) {
        let mut forgot = Instant::now();
        loop {
            self.changed.notified().await;
            tokio::select! {
                () = sleep(GATHER) => {}
                () = self.wanted.notified() => {}
            }
            while !self.write_round().await {
                sleep(PAUSE).await;
            }
            if forgot.elapsed() > FORGET {
                forgot = Instant::now();
                if let Err(error) = self.file.lock().await.forget_old().await {
                    tracing::warn!(target: "hooks_agent::guest", "old threads stay: {error}");
                }
            }
        }
    }

    /// Writes what has changed now.
    ///
    /// # Errors
    /// [`GuestThreadsError::File`] if it cannot be written.
    pub async fn save(&self) -> Result<(), GuestThreadsError> {
        if self.write_round().await { Ok(()) } else { Err(not_written()) }
    }

    /// Writes what has changed. Returns whether it could.
    async fn write_round(&self) -> bool {
        let (round, writing) = {
            let mut kept = self.kept();
            // A round that was dropped is written with this one.
            let mut writing = (*kept.writing).clone();
            writing.extend(kept.changed.drain());
            kept.writing = Arc::new(writing);
            kept.round += 1;
            (kept.round - 1, kept.writing.clone())
        };
        let written = match self.refuse_another_file() {
            Ok(()) => self.file.lock().await.write(writing.iter()).await,
            Err(error) => Err(error),
        };
        if let Err(error) = &written {
            let cause = std::error::Error::source(error);
            let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
            tracing::error!(target: "hooks_agent::guest", "{error}{cause}");
            let mut kept = self.kept();
            for (id, thread) in &*writing {
                kept.changed.entry(id.clone()).or_insert_with(|| thread.clone());
            }
        }
        self.kept().writing = Arc::default();
        let failed = written.is_err();
        self.written.send_modify(|it| {
            it.failed = failed;
            it.done = if failed { it.done } else { round };
        });
        !failed
    }

    /// Refuses to write to a file that was removed or replaced: nobody would read it again.
    fn refuse_another_file(&self) -> Result<(), GuestThreadsError> {
        if self.identity.is_none() || identity(&self.path) == self.identity {
            return Ok(());
        }
        let path = self.path.display();
        Err(GuestThreadsError::File(format!("{path} was removed or replaced").into()))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;

    let file = std::fs::metadata(path).ok()?;
    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}

impl Kept {
    /// Returns a thread. Those that were not used for long make room, unless somebody has them.
    fn cell(&mut self, id: &Arc<str>) -> Cell {
        let cell = self.cells.get_or_insert(id.clone(), Cell::default).clone();
        while self.cells.len() > MOST.get() {
            match self.cells.pop_lru() {
                Some((id, used)) if Arc::strong_count(&used) > 1 => {
                    self.cells.put(id, used);
                    break;
                }
                _ => {}
            }
        }
        cell
    }

    /// Returns a thread as it is, if the file does not have it so yet.
    fn unwritten(&self, id: &str) -> Option<GuestThread> {
        self.changed.get(id).or_else(|| self.writing.get(id)).cloned()
    }
}

/// What was decided before is not on the disk: a limit would be forgotten with this process.
fn not_written() -> GuestThreadsError {
    GuestThreadsError::File("changes before could not be written".into())
}

impl fmt::Debug for LiveThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveThreads").finish_non_exhaustive()
    }
}
