//! The files of a log: opened, continued, rotated.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::observe::audit_log::error::AuditError;
use crate::observe::audit_log::head;
use crate::observe::audit_log::link::{Link, Place};
use crate::observe::audit_log::seal::Seal;

/// A log that is written to.
pub(super) struct LogFile {
    path: PathBuf,
    seal: Seal,
    rotate_at: Option<u64>,
    syncs: bool,
    /// `None` after the file was renamed, until the next one is created.
    file: Option<File>,
    /// The length of the whole lines; what is beyond is of a line that was not written.
    len: u64,
    is_torn: bool,
    place: Place,
    /// How many files were rotated.
    rotated: u64,
}

/// Returns the files of a log, oldest first: those that were rotated, then the current one.
pub(super) fn files_of(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<_> = rotated(path)?.into_iter().map(|(_, path)| path).collect();
    if path.exists() || files.is_empty() {
        files.push(path.to_owned());
    }
    Ok(files)
}

/// Returns the files that were rotated, oldest first, with their numbers. Some may be gone.
fn rotated(path: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let (Some(name), folder) = (path.file_name(), folder.unwrap_or(Path::new("."))) else {
        return Ok(Vec::new());
    };
    let prefix = [name.as_encoded_bytes(), b"."].concat();
    let number = |name: &OsStr| {
        let number = name.as_encoded_bytes().strip_prefix(&*prefix)?;
        std::str::from_utf8(number).ok()?.parse().ok()
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let file = entry?.file_name();
        files.extend(number(&file).map(|number| (number, path.with_file_name(&file))));
    }
    files.sort();
    Ok(files)
}

impl LogFile {
    /// Opens a log behind its last whole line. Returns it and the number of bytes that were cut off.
    pub(super) fn open(
        path: PathBuf,
        seal: Seal,
        rotate_at: Option<u64>,
        syncs: bool,
    ) -> Result<(Self, u64), AuditError> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = File::options().create(true).read(true).append(true).open(&path)?;
        lock(&file, &path)?;
        let rotated = rotated(&path)?;
        let mut before = Place::start();
        if let Some((_, last)) = rotated.last() {
            before = Tail::read(&mut File::open(last)?)?.place(last, &seal)?.unwrap_or(before);
        }
        let mut tail = Tail::read(&mut file)?;
        let place = tail.place(&path, &seal)?.unwrap_or(before);
        let mut torn_bytes = tail.torn.len() as u64;
        if Link::read(&tail.torn, &seal).is_some_and(|link| link.follows(&place)) {
            // Only its line feed is missing.
            file.write_all(b"\n")?;
            tail = Tail::read(&mut file)?;
            torn_bytes = 0;
        }
        let place = tail.place(&path, &seal)?.unwrap_or(place);
        check_head(&path, &place, &seal)?;
        let len = file.metadata()?.len() - torn_bytes;
        if torn_bytes > 0 {
            file.set_len(len)?;
        }
        let rotated = rotated.last().map_or(0, |(number, _)| *number);
        let file = Some(file);
        let log = Self { path, seal, rotate_at, syncs, file, len, is_torn: false, place, rotated };
        Ok((log, torn_bytes))
    }

    /// Appends a line with these fields of a JSON object.
    pub(super) fn append(&mut self, fields: &str) -> Result<(), AuditError> {
        let (line, place) = self.place.next(fields, &self.seal);
        let is_full = self.rotate_at.is_some_and(|most| self.len + line.len() as u64 > most);
        if is_full && self.len > 0 {
            self.rotate()?;
        }
        self.write(&line)?;
        self.len += line.len() as u64;
        self.place = place;
        Ok(())
    }

    /// Writes the head, once the lines that it vouches for are on the disk.
    pub(super) fn seal(&self) -> io::Result<()> {
        if let Some(file) = &self.file {
            file.sync_all()?;
        }
        head::write(&self.path, &self.place, &self.seal)
    }

    fn write(&mut self, line: &[u8]) -> Result<(), AuditError> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                // Windows locks no file that is open to append alone.
                let mut options = File::options();
                let file = options.create_new(true).read(true).append(true).open(&self.path)?;
                lock(&file, &self.path)?;
                none.insert(file)
            }
        };
        if self.is_torn {
            file.set_len(self.len)?;
            self.is_torn = false;
        }
        let syncs = self.syncs;
        let synced = |()| if syncs { file.sync_data() } else { Ok(()) };
        let written = (&*file).write_all(line).and_then(synced);
        if written.is_err() {
            self.is_torn = file.set_len(self.len).is_err();
        }
        Ok(written?)
    }

    /// Renames the file, and writes the head, so that all its lines are sealed. The next line creates
    /// the next file.
    fn rotate(&mut self) -> Result<(), AuditError> {
        if self.is_torn {
            // The lines of a file that is renamed are whole.
            self.write(b"")?;
        }
        if let Some(file) = &self.file {
            file.sync_all()?;
        }
        let number = self.rotated + 1;
        let target = head::with_suffix(&self.path, &number.to_string());
        if target.try_exists()? {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists).into());
        }
        fs::rename(&self.path, target)?;
        (self.file, self.len, self.rotated) = (None, 0, number);
        Ok(self.seal()?)
    }
}

/// Refuses a log that has lost lines that its head vouches for: the next head would hide that.
fn check_head(path: &Path, place: &Place, seal: &Seal) -> Result<(), AuditError> {
    let other = || AuditError::Head { path: head::path_of(path) };
    let head = match head::read(path, seal) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return Err(other()),
        head => head?,
    };
    match head {
        Some(head) if head.seq > place.seq => {
            let line = BufReader::new(File::open(path)?).split(b'\n').count() as u64 + 1;
            let missing = head.seq - place.seq;
            Err(AuditError::Removed { path: path.to_owned(), line, missing })
        }
        Some(head) if head.seq == place.seq && head != *place => Err(other()),
        _ => Ok(()),
    }
}

fn lock(file: &File, path: &Path) -> Result<(), AuditError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(AuditError::InUse { path: path.to_owned() }),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// The end of a file: its last whole line, and what follows without a line feed.
struct Tail {
    line: Option<Vec<u8>>,
    torn: Vec<u8>,
}

impl Tail {
    fn read(file: &mut File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        let mut window = 1 << 16;
        loop {
            let start = len.saturating_sub(window);
            file.seek(SeekFrom::Start(start))?;
            let mut bytes = Vec::new();
            Read::take(&mut *file, len - start).read_to_end(&mut bytes)?;
            let ends: Vec<_> =
                (0..bytes.len()).rev().filter(|at| bytes[*at] == b'\n').take(2).collect();
            let line_start = match (ends.get(1), start) {
                (Some(end), _) => end + 1,
                (None, 0) => 0,
                (None, _) => {
                    window *= 4;
                    continue;
                }
            };
            let end = ends.first().copied();
            return Ok(Self {
                line: end.map(|end| bytes[line_start..end].to_owned()),
                torn: bytes.split_off(end.map_or(0, |end| end + 1)),
            });
        }
    }

    /// Returns the place of the last whole line, if there is one.
    fn place(&self, path: &Path, seal: &Seal) -> Result<Option<Place>, AuditError> {
        let Some(text) = &self.line else { return Ok(None) };
        let Some(link) = Link::read(text, seal) else {
            let lines = BufReader::new(File::open(path)?).split(b'\n').count() as u64;
            let line = lines - u64::from(!self.torn.is_empty());
            return Err(AuditError::Changed { path: path.to_owned(), line });
        };
        Ok(Some(link.place()))
    }
}
