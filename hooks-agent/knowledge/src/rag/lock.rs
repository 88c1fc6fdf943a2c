//! One writer of an index at a time, in all processes.
//!
//! Work that is awaited under a lock takes it by [`lock_between`]; work of one thread by [`lock`].

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::rag::blocking::{self, Abandoned};
use crate::rag::error::KnowledgeError;

/// How often a waiting writer looks again.
const AGAIN: Duration = Duration::from_millis(20);

/// Waits until no other writer has this file in the folder of the index. The lock is held until the
/// file is dropped, or its process ends.
pub(super) fn lock(
    folder: &Path,
    name: &str,
    abandoned: &Abandoned,
) -> Result<File, KnowledgeError> {
    let file = open(folder, name)?;
    while !try_lock(&file, folder)? {
        abandoned.check()?;
        thread::sleep(AGAIN);
    }
    Ok(file)
}

/// As [`lock`], but other work of the thread goes on between two attempts: whoever has the lock may
/// need the thread to end.
pub(super) async fn lock_between(
    folder: &Path,
    name: &'static str,
) -> Result<File, KnowledgeError> {
    loop {
        let folder = folder.to_owned();
        let attempt = blocking::run(move |_| {
            let file = open(&folder, name)?;
            if try_lock(&file, &folder)? {
                return Ok(Some(file));
            }
            thread::sleep(AGAIN);
            Ok(None)
        });
        if let Some(file) = attempt.await? {
            return Ok(file);
        }
        tokio::task::yield_now().await;
    }
}

fn open(folder: &Path, name: &str) -> Result<File, KnowledgeError> {
    let file = File::options().create(true).truncate(false).write(true).open(folder.join(name));
    file.map_err(|error| failed(folder, error))
}

fn try_lock(file: &File, folder: &Path) -> Result<bool, KnowledgeError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(failed(folder, error)),
    }
}

fn failed(folder: &Path, error: std::io::Error) -> KnowledgeError {
    KnowledgeError::Index { index: folder.to_owned(), source: error.into() }
}
