//! Verifies the files of a log.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::observe::audit_log::error::AuditError;
use crate::observe::audit_log::head;
use crate::observe::audit_log::link::{Link, Place};
use crate::observe::audit_log::seal::Seal;

/// An audit log in which every line follows the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// How many lines it has, in all files.
    pub lines: u64,
    /// How many of them the head vouches for. Lines that were removed after these are not noticed.
    /// 0 without a head.
    pub sealed: u64,
    /// The length of what follows the last line, of which a kill left a part.
    pub torn_bytes: u64,
    /// How many times a part of a line was cut off, after a kill, when the log was opened again.
    pub recoveries: u64,
}

impl Verified {
    /// Returns whether the head vouches for all lines: the log was closed, and nothing was removed.
    #[must_use]
    pub const fn is_sealed(&self) -> bool {
        self.lines > 0 && self.sealed == self.lines && self.torn_bytes == 0
    }
}

/// Verifies the files of a log, in order, and its head.
pub(super) fn verify(
    files: &[PathBuf],
    log: &Path,
    key: Option<&[u8]>,
) -> Result<Verified, AuditError> {
    let seal = Seal::new(key)?;
    let head = match head::read(log, &seal) {
        Ok(head) => Ok(head),
        // The error of a line says more.
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(AuditError::Head { path: head::path_of(log) })
        }
        Err(error) => return Err(error.into()),
    };
    let sealed_at = head.as_ref().ok().cloned().flatten();
    let mut chain = Chain {
        seal,
        place: Place::start(),
        sealed_at,
        is_head_found: false,
        verified: Verified::default(),
    };
    let mut last_line = 0;
    for (index, path) in files.iter().enumerate() {
        last_line = chain.file(&files[index..], path, index + 1 == files.len())?;
    }
    let head = head?;
    let Chain { place, is_head_found, mut verified, .. } = chain;
    verified.lines = place.seq;
    match head {
        None => {}
        Some(head) if head.seq > place.seq => {
            let path = files.last().map_or_else(|| log.to_owned(), Clone::clone);
            let missing = head.seq - place.seq;
            return Err(AuditError::Removed { path, line: last_line + 1, missing });
        }
        Some(head) if is_head_found => verified.sealed = head.seq,
        Some(_) => return Err(AuditError::Head { path: head::path_of(log) }),
    }
    Ok(verified)
}

struct Chain {
    seal: Seal,
    place: Place,
    sealed_at: Option<Place>,
    is_head_found: bool,
    verified: Verified,
}

impl Chain {
    /// Verifies a file, the first of `files`, and returns the number of its lines.
    fn file(&mut self, files: &[PathBuf], path: &Path, is_last: bool) -> Result<u64, AuditError> {
        let mut lines = BufReader::new(File::open(path)?);
        let (mut number, mut text) = (0, Vec::new());
        while lines.read_until(b'\n', &mut text)? > 0 {
            let has_end = text.pop_if(|byte| *byte == b'\n').is_some();
            let link = Link::read(&text, &self.seal);
            if !has_end && !link.as_ref().is_some_and(|link| link.follows(&self.place)) {
                if !is_last {
                    return Err(AuditError::Changed { path: path.to_owned(), line: number + 1 });
                }
                self.verified.torn_bytes = text.len() as u64;
                break;
            }
            number += 1;
            match link {
                Some(link) if link.follows(&self.place) => self.add(link),
                Some(link) => return Err(self.misplaced(&link, files, number)),
                None => return Err(self.changed(&text, path, number)),
            }
            text.clear();
        }
        Ok(number)
    }

    fn add(&mut self, link: Link) {
        self.verified.recoveries += u64::from(link.event == "OPENED" && link.torn_bytes > 0);
        self.place = link.place();
        self.is_head_found |= self.sealed_at.as_ref() == Some(&self.place);
    }

    /// Returns the error of a line that is not as it was written.
    fn changed(&self, text: &[u8], path: &Path, number: u64) -> AuditError {
        let sealed_by = Link::parse(text).and_then(|(link, _)| link.sealed_by);
        if self.place.seq == 0
            && self.seal.name() == "sha256"
            && sealed_by.is_some_and(|by| by == "hmac_sha256")
        {
            return AuditError::NeedsKey;
        }
        AuditError::Changed { path: path.to_owned(), line: number }
    }

    /// Returns the error of a whole line that does not follow the one before.
    fn misplaced(&self, found: &Link, files: &[PathBuf], line: u64) -> AuditError {
        let (path, expected) = (files[0].clone(), self.place.seq + 1);
        if found.seq < expected {
            return AuditError::Added { path, line };
        }
        if found.seq == expected {
            // It vouches for another line before it.
            return AuditError::Changed { path, line: line.saturating_sub(1).max(1) };
        }
        let is_expected =
            |text: Vec<u8>| Link::read(&text, &self.seal).is_some_and(|it| it.seq == expected);
        if lines_of(files).any(is_expected) {
            return AuditError::Reordered { path, line };
        }
        AuditError::Removed { path, line, missing: found.seq - expected }
    }
}

/// Returns the lines of files; those that cannot be read are left out.
fn lines_of(files: &[PathBuf]) -> impl Iterator<Item = Vec<u8>> {
    let files = files.iter().filter_map(|path| File::open(path).ok());
    files.flat_map(|file| BufReader::new(file).split(b'\n').map_while(Result::ok))
}
