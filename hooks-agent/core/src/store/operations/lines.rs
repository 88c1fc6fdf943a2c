//! The lines of an export, as they are read.

use serde::de::DeserializeOwned;
use serde_json::error::Category;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

use crate::store::operations::error::ImportError;

/// The lines of an export. No more of them is read than the limits allow.
pub(super) struct Lines<R> {
    reader: R,
    /// The number of the line that was read last.
    number: u64,
    /// The length of the longest line, in bytes.
    longest: u64,
    /// How many bytes of the export may follow.
    left: u64,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, longest: u64, total: u64) -> Self {
        Self { reader, number: 0, longest, left: total }
    }

    /// Reads a line, or none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, ImportError> {
        let mut line = Vec::new();
        let limit = self.longest.min(self.left).saturating_add(1);
        let mut limited = (&mut self.reader).take(limit);
        limited.read_until(b'\n', &mut line).await.map_err(ImportError::Read)?;
        if line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let length = line.len() as u64;
        let is_whole = line.pop() == Some(b'\n');
        let left = self.left;
        self.left = left.saturating_sub(length);
        match is_whole {
            _ if length > left => Err(self.error(
                "is past the longest export that is read: raise `ImportOptions::longest_export`",
            )),
            true => Ok(Some(line)),
            false if length == limit => Err(self.error(&format!(
                "has more than {} bytes: raise `ImportOptions::longest_line`",
                self.longest
            ))),
            false => Err(self.error("is cut off: it does not end")),
        }
    }

    /// The error of the JSON may quote the line: only its place is kept.
    pub(super) fn parse<T: DeserializeOwned>(&self, line: &[u8]) -> Result<T, ImportError> {
        serde_json::from_slice(line).map_err(|error| {
            let column = error.column();
            self.error(&match error.classify() {
                Category::Data => format!("is not what is expected, at column {column}"),
                _ => format!("is no JSON, at column {column}"),
            })
        })
    }

    /// Returns the error of the line that was read last; of the first one, if there is none.
    pub(super) fn error(&self, reason: &str) -> ImportError {
        ImportError::Line { line: self.number.max(1), reason: reason.to_owned() }
    }
}
