//! The file of hashes.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::command::trust::trusted::TrustError;

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u32,
    sha256: BTreeSet<String>,
}

/// Reads the hashes; none, if there is no file.
pub(super) fn read(path: &Path) -> Result<BTreeSet<String>, TrustError> {
    let failed = |source| TrustError::Io { path: path.to_owned(), source };
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        file => file.map_err(failed)?,
    };
    if is_writable_by_others(&file).map_err(failed)? {
        return Err(TrustError::WritableByOthers { path: path.to_owned() });
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    match serde_json::from_str(&text) {
        Ok(Content { version: VERSION, sha256 }) => Ok(sha256),
        _ => Err(TrustError::Malformed { path: path.to_owned() }),
    }
}

/// Replaces the file by one with these hashes.
pub(super) fn write(path: &Path, hashes: &BTreeSet<String>) -> Result<(), TrustError> {
    let failed = |source| TrustError::Io { path: path.to_owned(), source };
    let content = Content { version: VERSION, sha256: hashes.clone() };
    let json = serde_json::to_vec_pretty(&content).map_err(|error| failed(error.into()))?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = path.with_file_name(name);
    let written = replace(path, &new, &json);
    if written.is_err() {
        // What was written in part is of no use.
        let _ = fs::remove_file(&new);
    }
    written.map_err(failed)
}

fn replace(path: &Path, new: &Path, json: &[u8]) -> io::Result<()> {
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        fs::create_dir_all(dir)?;
    }
    // A file that a killed process left.
    let _ = fs::remove_file(new);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(new)?;
    file.write_all(json)?;
    file.sync_all()?;
    fs::rename(new, path)
}

#[cfg(unix)]
fn is_writable_by_others(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    Ok(file.metadata()?.permissions().mode() & 0o022 != 0)
}

#[cfg(not(unix))]
fn is_writable_by_others(_: &File) -> io::Result<bool> {
    Ok(false)
}
