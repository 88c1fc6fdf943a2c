//! One writer of an index at a time, in all processes.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::builtin::knowledge::KnowledgeError;
use crate::builtin::knowledge::rag::blocking::Abandoned;

/// How often a waiting writer looks again.
const AGAIN: Duration = Duration::from_millis(20);

/// Waits until no other writer has this file in the folder of the index. The lock is held until the
/// file is dropped, or its process ends.
pub(super) fn lock(
    folder: &Path,
    name: &str,
    abandoned: &Abandoned,
) -> Result<File, KnowledgeError> {
    let failed = |source: std::io::Error| KnowledgeError::Index {
        index: folder.to_owned(),
        source: source.into(),
    };
    let file = File::options().create(true).truncate(false).write(true).open(folder.join(name));
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
