//! One writer of an index at a time, in all processes.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::builtin::knowledge::KnowledgeError;
use crate::builtin::knowledge::rag::blocking::Abandoned;

/// The file that the writer of an index locks. The lock ends with its process.
const NAME: &str = ".hooks-index.lock";

/// How often a waiting writer looks again.
const AGAIN: Duration = Duration::from_millis(20);

/// Waits until no other writer has the index. The lock is held until the file is dropped.
pub(super) fn lock(folder: &Path, abandoned: &Abandoned) -> Result<File, KnowledgeError> {
    let failed = |source: std::io::Error| KnowledgeError::Index {
        index: folder.to_owned(),
        source: source.into(),
    };
    let file = File::options().create(true).truncate(false).write(true).open(folder.join(NAME));
    let file = file.map_err(failed)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {
                abandoned.check()?;
                thread::sleep(AGAIN);
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
}
