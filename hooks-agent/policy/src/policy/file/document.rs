//! A text with its lines, and what is wrong in it.

use std::sync::Arc;

use hooks_agent_core::options::{Key, Node, shown_key};
use toml::de::DeTable;

use crate::command::Layer;
use crate::policy::error::{Place, PolicyError, PolicyErrors};
use crate::policy::file::beside::Beside;
use crate::policy::file::source::Source;
use crate::policy::file::toml::entries_of;

/// Larger texts with a syntax error report the first one alone.
const MOST_RECOVERED: usize = 64 << 10;

/// The text of a policy file.
pub(crate) struct Document {
    pub(crate) file: Arc<str>,
    pub(crate) layer: Layer,
    /// Its place among the files of its layer, from 1.
    pub(super) number: usize,
    /// The variables beside the file.
    pub(super) beside: Option<Beside>,
    text: String,
    /// Where each line begins.
    lines: Vec<usize>,
}

impl Document {
    /// Takes the bytes of a file, without a byte order mark.
    pub(crate) fn new(
        source: &Source,
        bytes: &[u8],
        number: usize,
        beside: Option<Beside>,
    ) -> Result<Self, PolicyError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let valid = std::str::from_utf8(bytes);
        let end = valid.as_ref().map_or_else(std::str::Utf8Error::valid_up_to, |text| text.len());
        let text = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        let document =
            Self { file: source.name().clone(), layer: source.layer, number, beside, text, lines };
        match valid {
            Ok(_) => Ok(document),
            Err(_) => Err(PolicyError::at(document.place(end), "", "expected text in UTF-8")),
        }
    }

    /// Parses the text as TOML.
    pub(crate) fn parse(&self, problems: &mut Problems<'_>) -> Option<Vec<(Key, Node)>> {
        let first = match DeTable::parse(&self.text) {
            Ok(table) => return Some(entries_of(table.into_inner())),
            Err(error) => error,
        };
        let mut errors = if self.text.len() > MOST_RECOVERED {
            Vec::new()
        } else {
            DeTable::parse_recoverable(&self.text).1
        };
        if errors.is_empty() {
            errors.push(first);
        }
        errors.truncate(PolicyErrors::MOST);
        for error in errors {
            let offset = error.span().map_or(self.text.len(), |span| span.start);
            let mut message = error.message().trim().to_owned();
            // The parser points at the key that is there twice, and does not name it.
            let key = error.span().and_then(|span| self.text.get(span)).map(str::trim);
            if let Some(key) = key.filter(|key| message == "duplicate key" && !key.is_empty()) {
                message = format!("the key `{}` is there twice", shown_key(key));
            }
            problems.add(offset, "", message);
        }
        None
    }

    /// Returns the place of a byte of the text.
    pub(crate) fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let line = self.lines.partition_point(|start| *start <= offset) - 1;
        let before = self.text.as_bytes()[self.lines[line]..offset].iter();
        // Counts the characters: each has one byte that continues none.
        let column = before.filter(|byte| **byte & 0xc0 != 0x80).count() + 1;
        Place::new(self.file.clone(), line + 1, column)
    }
}

/// Gathers what is wrong in a document.
pub(crate) struct Problems<'a> {
    document: &'a Document,
    found: Vec<PolicyError>,
}

impl<'a> Problems<'a> {
    pub(crate) fn new(document: &'a Document) -> Self {
        Self { document, found: Vec::new() }
    }

    pub(crate) fn add(
        &mut self,
        offset: usize,
        key: impl Into<String>,
        message: impl Into<String>,
    ) {
        // The place of an error costs time in a long line, and nobody reads more of them.
        if self.found.len() <= PolicyErrors::MOST {
            self.found.push(PolicyError::at(self.document.place(offset), key, message));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(crate) fn into_errors(mut self) -> Vec<PolicyError> {
        self.found.sort_by(|one, other| one.place().cmp(&other.place()));
        self.found
    }
}
