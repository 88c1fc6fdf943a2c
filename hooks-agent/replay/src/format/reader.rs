//! Reads a tape line by line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::error::TapeError;
use crate::format::chain::Chain;
use crate::format::line::{HeaderLine, Line, parse as parsed};
use crate::format::{FORMAT, OLDEST, VERSION};

/// Where a line is in its file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Its number, from 1.
    pub(crate) line: usize,
    offset: u64,
    length: usize,
}

/// Reads the lines of a tape after its header, without their large parts.
pub(crate) struct Reader {
    path: PathBuf,
    file: BufReader<File>,
    buffer: Vec<u8>,
    line: usize,
    offset: u64,
    version: u64,
    chain: Chain,
}

/// Where the lines of a tape end, before the last one: where others may be appended.
#[derive(Clone, Debug)]
pub(crate) struct Tail {
    pub(crate) length: u64,
    pub(crate) lines: usize,
    pub(crate) chain: Chain,
}

impl Reader {
    /// Opens a tape and reads its header.
    pub(crate) fn open(path: &Path) -> Result<(Self, HeaderLine), TapeError> {
        let file = File::open(path).map_err(TapeError::io(path, "read"))?;
        let (path, file) = (path.to_owned(), BufReader::new(file));
        let (buffer, chain) = (Vec::new(), Chain::default());
        let mut reader = Self { path, file, buffer, line: 0, offset: 0, version: 0, chain };
        let Some((_, line, sum)) = reader.read()? else {
            return Err(reader.error("expected a header, and the file is empty"));
        };
        let header = match line {
            Line::Header(header) if header.format.as_deref() == Some(FORMAT) => header,
            _ => {
                return Err(reader.error(format!("expected a header with the format `{FORMAT}`")));
            }
        };
        match header.version {
            Some(version @ OLDEST..=VERSION) => reader.version = version,
            version => {
                let version = version.map_or_else(|| "none".to_owned(), |it| it.to_string());
                let reason = format!(
                    "its version is {version}, this program reads the versions {OLDEST} to {VERSION}"
                );
                return Err(reader.error(reason));
            }
        }
        reader.check(sum.as_deref())?;
        Ok((reader, header))
    }

    /// Reads the next line, and checks it. `None` after the last one.
    pub(crate) fn next(&mut self) -> Result<Option<(Place, Line)>, TapeError> {
        let Some((place, line, sum)) = self.read()? else {
            if self.version == OLDEST {
                return Ok(None);
            }
            self.line -= 1;
            return Err(self.error("the tape ends here, before its line of the kind `close`"));
        };
        let tail = self.tail(place);
        self.check(sum.as_deref())?;
        let close = match line {
            Line::Close(close) if self.version > OLDEST => close,
            line => return Ok(Some((place, line))),
        };
        if close.lines != Some(tail.lines) {
            return Err(self.error(format!("`lines` is not {}, what is before it", tail.lines)));
        }
        if self.read()?.is_some() {
            return Err(self.error("a line after the one of the kind `close`"));
        }
        self.chain = tail.chain;
        (self.line, self.offset) = (place.line, place.offset);
        Ok(None)
    }

    /// Returns where the lines end, once all are read. `None` for a version whose tapes have no end.
    pub(crate) fn end(&self) -> Option<Tail> {
        let (length, lines) = (self.offset, self.line - 1);
        (self.version > OLDEST).then(|| Tail { length, lines, chain: self.chain.clone() })
    }

    /// Returns where the lines before this one end.
    fn tail(&self, place: Place) -> Tail {
        Tail { length: place.offset, lines: place.line - 1, chain: self.chain.clone() }
    }

    /// Checks the digest of the last line.
    fn check(&mut self, sum: Option<&str>) -> Result<(), TapeError> {
        let checked = match (self.version, sum) {
            (OLDEST, None) => Ok(()),
            (OLDEST, Some(_)) => Err("it has a `sum`, which no line of version 1 has".to_owned()),
            (_, sum) => self.chain.check(&self.buffer, sum),
        };
        checked.map_err(|reason| self.error(reason))
    }

    fn read(&mut self) -> Result<Option<(Place, Line, Option<String>)>, TapeError> {
        self.buffer.clear();
        self.line += 1;
        let length = self.file.read_until(b'\n', &mut self.buffer);
        let length = length.map_err(TapeError::io(&self.path, "read"))?;
        if length == 0 {
            return Ok(None);
        }
        if self.buffer.last() != Some(&b'\n') {
            return Err(self.error("it is cut off"));
        }
        let (line, sum) = Line::read(&self.buffer).map_err(|reason| self.error(reason))?;
        let place = Place { line: self.line, offset: self.offset, length };
        self.offset += length as u64;
        Ok(Some((place, line, sum)))
    }

    /// Creates the error of the last line.
    pub(crate) fn error(&self, reason: impl Into<String>) -> TapeError {
        TapeError::line(&self.path, self.line.max(1), reason)
    }
}

/// Reads the bytes of a line again.
pub(crate) fn bytes_at(file: &mut File, path: &Path, place: Place) -> Result<Vec<u8>, TapeError> {
    let mut bytes = vec![0; place.length];
    let read = file.seek(SeekFrom::Start(place.offset)).and_then(|_| file.read_exact(&mut bytes));
    read.map_err(TapeError::io(path, "read"))?;
    Ok(bytes)
}

/// Parses the bytes of a line as one of its kinds.
pub(crate) fn parse<T: DeserializeOwned>(
    bytes: &[u8],
    path: &Path,
    place: Place,
) -> Result<T, TapeError> {
    parsed(bytes).map_err(|reason| TapeError::line(path, place.line, reason))
}
