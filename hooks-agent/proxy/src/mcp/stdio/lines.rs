//! Cuts a stream of bytes into lines.

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::mcp::messages::message::MOST_BYTES;

/// How many bytes are read at once.
const CHUNK: usize = 16 * 1024;

/// One line of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Text(Vec<u8>),
    /// It has more bytes than a message may have, and nothing of it is kept.
    TooLong,
}

/// Cuts a stream of bytes into lines, none of which is longer than a message may be.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    chunk: Vec<u8>,
    at: usize,
    line: Vec<u8>,
    is_too_long: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, chunk: Vec::new(), at: 0, line: Vec::new(), is_too_long: false }
    }

    /// Returns the next line that has text, `None` at the end of the stream. The last line may have no line
    /// break. A stream that fails has ended.
    pub(crate) async fn next(&mut self) -> Option<Line> {
        loop {
            let rest = &self.chunk[self.at..];
            let end = rest.iter().position(|byte| *byte == b'\n');
            let part = &rest[..end.unwrap_or(rest.len())];
            if self.line.len() + part.len() > MOST_BYTES {
                self.is_too_long = true;
                self.line = Vec::new();
            }
            if !self.is_too_long {
                self.line.extend_from_slice(part);
            }
            self.at += part.len() + usize::from(end.is_some());
            if end.is_some() {
                match self.taken() {
                    Some(line) => return Some(line),
                    None => continue,
                }
            }
            if !self.fill().await {
                return self.taken();
            }
        }
    }

    /// Returns the line that has arrived, if it has text.
    fn taken(&mut self) -> Option<Line> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_too_long) {
            return Some(Line::TooLong);
        }
        let has_text = line.iter().any(|byte| !byte.is_ascii_whitespace());
        has_text.then_some(Line::Text(line))
    }

    async fn fill(&mut self) -> bool {
        (self.at, self.chunk) = (0, std::mem::take(&mut self.chunk));
        self.chunk.resize(CHUNK, 0);
        let read = self.reader.read(&mut self.chunk).await.unwrap_or(0);
        self.chunk.truncate(read);
        read > 0
    }
}
