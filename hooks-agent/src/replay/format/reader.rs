//! Reads a tape line by line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::de::{DeserializeOwned, IgnoredAny};

use crate::replay::TapeError;
use crate::replay::format::{FORMAT, Kind, Line, VERSION};

/// Where a line is in its file.
#[derive(Clone, Copy, Debug)]
pub(in crate::replay) struct Place {
    /// Its number, from 1.
    pub(in crate::replay) line: usize,
    offset: u64,
    length: usize,
}

/// Reads the lines of a tape after its header, without their large parts.
pub(in crate::replay) struct Reader {
    path: PathBuf,
    file: BufReader<File>,
    buffer: Vec<u8>,
    line: usize,
    offset: u64,
}

impl Reader {
    /// Opens a tape and reads its header.
    pub(in crate::replay) fn open(path: &Path) -> Result<(Self, Line<IgnoredAny>), TapeError> {
        let file = File::open(path).map_err(TapeError::io(path, "read"))?;
        let (path, file) = (path.to_owned(), BufReader::new(file));
        let mut reader = Self { path, file, buffer: Vec::new(), line: 0, offset: 0 };
        let Some((_, header)) = reader.next()? else {
            return Err(reader.error("expected a header, and the file is empty"));
        };
        if header.t != Kind::Header || header.format.as_deref() != Some(FORMAT) {
            return Err(reader.error(format!("expected a header with the format `{FORMAT}`")));
        }
        if header.version != Some(VERSION) {
            let version = header.version.map_or_else(|| "none".to_owned(), |it| it.to_string());
            let reason = format!("its version is {version}, this program reads version {VERSION}");
            return Err(reader.error(reason));
        }
        Ok((reader, header))
    }

    /// Reads the next line.
    pub(in crate::replay) fn next(
        &mut self,
    ) -> Result<Option<(Place, Line<IgnoredAny>)>, TapeError> {
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
        let line = serde_json::from_slice(&self.buffer);
        let line = line.map_err(|error| self.error(unreadable(&error)))?;
        let place = Place { line: self.line, offset: self.offset, length };
        self.offset += length as u64;
        Ok(Some((place, line)))
    }

    /// Creates the error of the last line.
    pub(in crate::replay) fn error(&self, reason: impl Into<String>) -> TapeError {
        TapeError::line(&self.path, self.line.max(1), reason)
    }
}

/// Reads the bytes of a line again.
pub(in crate::replay) fn bytes_at(
    file: &mut File,
    path: &Path,
    place: Place,
) -> Result<Vec<u8>, TapeError> {
    let mut bytes = vec![0; place.length];
    let read = file.seek(SeekFrom::Start(place.offset)).and_then(|_| file.read_exact(&mut bytes));
    read.map_err(TapeError::io(path, "read"))?;
    Ok(bytes)
}

/// Parses the bytes of a line.
pub(in crate::replay) fn parse<R: DeserializeOwned, V: DeserializeOwned>(
    bytes: &[u8],
    path: &Path,
    place: Place,
) -> Result<Line<R, V>, TapeError> {
    let line = serde_json::from_slice(bytes);
    line.map_err(|error| TapeError::line(path, place.line, unreadable(&error)))
}

/// Says where in the line the error is; the line of the message would be of the text alone.
fn unreadable(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or(&text);
    format!("{reason}, at column {}", error.column())
}
