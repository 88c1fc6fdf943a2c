//! Reads files that stay in the folder of a skill.

use std::io::{self, ErrorKind, Read};

use cap_std::fs::Dir;

/// Why a file of a skill is not read.
#[derive(Debug)]
pub(super) enum Unread {
    /// The path is not a relative path of plain names.
    Path,
    /// A link leads out of the folder.
    Outside,
    Missing,
    /// A folder, a pipe or a device.
    NoFile,
    TooLong,
    NotText,
    Io(io::Error),
}

/// Checks a path that a model wrote: names with `/` between them. What would mean something else on
/// another system is refused on all of them.
pub(super) fn check_path(path: &str) -> Result<(), Unread> {
    let is_name =
        |name: &str| !name.is_empty() && !name.starts_with('.') && !name.ends_with([' ', '.']);
    let is_odd = |char: char| matches!(char, '\\' | ':') || char.is_control();
    if path.contains(is_odd) || !path.split('/').all(is_name) {
        return Err(Unread::Path);
    }
    Ok(())
}

/// Reads the text of a file in a folder of a folder of skills. The file system resolves the path below
/// the folder of the skill, so no link leads out of it, whenever it was made.
pub(super) fn read_text(
    root: &Dir,
    folder: &str,
    path: &str,
    limit: usize,
) -> Result<String, Unread> {
    let folder = root.open_dir(folder).map_err(unread)?;
    // Opening a pipe would wait for its writer.
    if !folder.metadata(path).map_err(unread)?.is_file() {
        return Err(Unread::NoFile);
    }
    let file = folder.open(path).map_err(unread)?;
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() > limit {
        return Err(Unread::TooLong);
    }
    let text = String::from_utf8(bytes).map_err(|_| Unread::NotText)?;
    if text.contains('\0') { Err(Unread::NotText) } else { Ok(text) }
}

fn unread(error: io::Error) -> Unread {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Unread::Missing,
        // What `cap-std` returns for a path that leaves the folder; the system's own error has a number.
        ErrorKind::PermissionDenied if error.raw_os_error().is_none() => Unread::Outside,
        _ => Unread::Io(error),
    }
}
