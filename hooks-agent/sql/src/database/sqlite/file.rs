//! The file of a database.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::database::error::DatabaseError;

/// Creates the file of a database if there is none, for its owner alone: SQLite gives the files beside
/// it the same mode. Returns its absolute path, which SQLite reads as a path and never as a URL.
///
/// # Errors
/// [`Open`](crate::database::DatabaseErrorKind::Open), with what is wrong.
pub fn prepare_file(path: &Path) -> Result<PathBuf, DatabaseError> {
    if path.as_os_str().is_empty() {
        return Err(refused("the path is empty: name a file".to_owned(), None));
    }
    refuse_url(path)?;
    let shown = path.display();
    let path = std::path::absolute(path)
        .map_err(|error| refused(format!("`{shown}` is no path"), Some(error)))?;
    if path.to_str().is_none() {
        return Err(refused(format!("the path `{shown}` is not UTF-8"), None));
    }
    let folder = path.parent().unwrap_or(&path);
    match fs::metadata(&path) {
        Ok(file) if file.is_dir() => {
            return Err(refused(format!("`{shown}` is a folder: name a file in it"), None));
        }
        Ok(file) if file.permissions().readonly() => {
            return Err(refused(format!("`{shown}` is read-only: allow to write it"), None));
        }
        Ok(_) => OpenOptions::new().write(true).open(&path).map(drop),
        Err(error) if error.kind() == ErrorKind::NotFound => match fs::metadata(folder) {
            // Of a folder of Windows it says nothing about what is written into it.
            Ok(found) if cfg!(unix) && found.permissions().readonly() => {
                Err(ErrorKind::ReadOnlyFilesystem.into())
            }
            Ok(_) => create(&path),
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    }
    .map_err(|error| refused(reason(&path, folder, &error), Some(error)))?;
    Ok(path)
}

/// Returns the absolute path of a file that is there.
///
/// # Errors
/// [`Open`](crate::database::DatabaseErrorKind::Open), with what is wrong.
pub fn existing_file(path: &Path) -> Result<PathBuf, DatabaseError> {
    refuse_url(path)?;
    let shown = path.display();
    match fs::metadata(path) {
        Ok(file) if file.is_dir() => {
            Err(refused(format!("`{shown}` is a folder: name a file in it"), None))
        }
        Ok(_) => std::path::absolute(path)
            .map_err(|error| refused(format!("`{shown}` is no path"), Some(error))),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(refused(format!("there is no file `{shown}`"), None))
        }
        Err(error) => {
            Err(refused(format!("`{shown}` cannot be read: {}", error.kind()), Some(error)))
        }
    }
}

/// Refuses what SQLite's other libraries take in place of a path. It may have a password: nothing is quoted.
///
/// # Errors
/// [`Open`](crate::database::DatabaseErrorKind::Open), with what is wrong.
pub fn refuse_url(path: &Path) -> Result<(), DatabaseError> {
    let text = path.to_string_lossy();
    if matches!(&*text, ":memory:" | "sqlite::memory:" | "sqlite://:memory:") {
        return Err(refused("a store in memory is `MemoryStore`".to_owned(), None));
    }
    if text.starts_with("sqlite:") || text.contains("://") {
        let reason = "expected the path of a file, found a URL: `store::open` takes URLs";
        return Err(refused(reason.to_owned(), None));
    }
    Ok(())
}

/// Creates the file, unless another process just did.
fn create(path: &Path) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn reason(path: &Path, folder: &Path, error: &io::Error) -> String {
    let (path, folder) = (path.display(), folder.display());
    match error.kind() {
        ErrorKind::NotFound => format!("the folder `{folder}` does not exist: create it first"),
        ErrorKind::NotADirectory => format!("`{folder}` is no folder"),
        ErrorKind::PermissionDenied => format!("the rights to write `{path}` are missing"),
        ErrorKind::ReadOnlyFilesystem => {
            format!("the folder `{folder}` is read-only: allow to write it")
        }
        ErrorKind::StorageFull => format!("there is no space left for `{path}`"),
        kind => format!("`{path}` cannot be written: {kind}"),
    }
}

fn refused(reason: String, source: Option<io::Error>) -> DatabaseError {
    DatabaseError::refused(reason).with_source(source)
}
