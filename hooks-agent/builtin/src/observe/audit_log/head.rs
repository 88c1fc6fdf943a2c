//! The head of a log: how many lines it has, and the hash of the last one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::observe::audit_log::link::Place;
use crate::observe::audit_log::seal::{Kind, Seal};

#[derive(Serialize, Deserialize)]
struct Head {
    count: u64,
    hash: String,
    /// The hash of both.
    seal: String,
}

/// Returns the file of the head.
pub(super) fn path_of(log: &Path) -> PathBuf {
    with_suffix(log, "head")
}

/// Returns the path with a further extension.
pub(super) fn with_suffix(log: &Path, suffix: &str) -> PathBuf {
    let mut path = log.as_os_str().to_owned();
    path.push(".");
    path.push(suffix);
    path.into()
}

/// Replaces the head as a whole.
pub(super) fn write(log: &Path, place: &Place, seal: &Seal) -> io::Result<()> {
    let Place { seq: count, hash } = place.clone();
    let head = Head { count, seal: seal_of(count, &hash, seal), hash };
    let text = serde_json::to_vec(&head)?;
    let new = with_suffix(log, "head.new");
    let mut file = fs::File::create(&new)?;
    file.write_all(&text)?;
    file.sync_all()?;
    drop(file);
    fs::rename(new, path_of(log))
}

/// Reads the head. `Ok(None)` if there is none.
///
/// # Errors
/// The errors of the file system; `InvalidData` if it is not one of this key.
pub(super) fn read(log: &Path, seal: &Seal) -> io::Result<Option<Place>> {
    let text = match fs::read(path_of(log)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let is_own = |head: &Head| seal_of(head.count, &head.hash, seal) == head.seal;
    let head = serde_json::from_slice(&text).ok().filter(is_own);
    let Head { count, hash, .. } = head.ok_or(io::ErrorKind::InvalidData)?;
    Ok(Some(Place { seq: count, hash }))
}

fn seal_of(count: u64, hash: &str, seal: &Seal) -> String {
    seal.of(Kind::Head, format!("{count}:{hash}").as_bytes())
}
