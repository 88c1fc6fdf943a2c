//! Whether a file or a folder changed since it was read.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The coarsest time of a file system: a file that changes twice within it may look as if it changed
/// once.
const TICK: Duration = Duration::from_secs(2);

/// What a file or a folder looked like before it was read.
#[derive(Clone, Debug)]
pub(super) struct Stamp {
    seen: Option<Seen>,
    taken: SystemTime,
}

#[derive(Clone, Debug, PartialEq)]
struct Seen {
    modified: Option<SystemTime>,
    length: u64,
    identity: (u64, u64),
}

impl Stamp {
    /// Looks at a path. What does not exist has a stamp too.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let taken = SystemTime::now();
        match fs::metadata(path) {
            Ok(found) => {
                let seen = Seen {
                    modified: found.modified().ok(),
                    length: found.len(),
                    identity: identity(&found),
                };
                Ok(Self { seen: Some(seen), taken })
            }
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                    Ok(Self { seen: None, taken })
                }
                _ => Err(error),
            },
        }
    }

    /// Returns whether there is something at the path.
    pub(super) fn exists(&self) -> bool {
        self.seen.is_some()
    }

    /// Returns whether what was read when this stamp was taken may differ from what has the later
    /// stamp now: the stamps differ, or the file had just changed and could change again unseen.
    pub(super) fn may_differ(&self, now: &Self) -> bool {
        self.seen != now.seen || !self.is_settled()
    }

    /// Returns whether the path leads to the same folder as before.
    pub(super) fn is_same_folder(&self, now: &Self) -> bool {
        let identity = |stamp: &Self| stamp.seen.as_ref().map(|seen| seen.identity);
        identity(self) == identity(now)
    }

    fn is_settled(&self) -> bool {
        let Some(seen) = &self.seen else { return true };
        let age = seen.modified.and_then(|modified| self.taken.duration_since(modified).ok());
        age.is_some_and(|age| age > TICK)
    }
}

#[cfg(unix)]
fn identity(found: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino())
}

#[cfg(not(unix))]
fn identity(found: &Metadata) -> (u64, u64) {
    let created = found.created().ok();
    let since = created.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    since.map_or((0, 0), |since| (since.as_secs(), since.subsec_nanos().into()))
}
