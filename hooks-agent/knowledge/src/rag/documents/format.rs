//! The formats of documents, by the ends of file names.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::rag::documents::piece::Document;
use crate::rag::documents::{html, markdown, pdf, plain};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Markdown,
    Plain,
    Html,
    Pdf,
}

impl Format {
    /// Returns the format of a file, if it is one of a document.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "md" | "markdown" => Some(Self::Markdown),
            "txt" | "text" => Some(Self::Plain),
            "html" | "htm" | "xhtml" => Some(Self::Html),
            "pdf" => Some(Self::Pdf),
            _ => None,
        }
    }

    /// Reads a document and cuts it into pieces of at most `size` characters.
    ///
    /// # Errors
    /// Why it cannot be read, for people.
    pub(crate) fn read(self, bytes: Vec<u8>, size: usize) -> Result<Document, String> {
        // Readers of foreign formats may panic on files that are damaged.
        let read = catch_unwind(AssertUnwindSafe(|| match self {
            Self::Markdown => Ok(markdown::document(utf8(bytes)?, size)),
            Self::Plain => Ok(plain::document(utf8(bytes)?, size)),
            Self::Html => html::document(&utf8(bytes)?, size),
            Self::Pdf => pdf::document(&bytes, size),
        }));
        read.unwrap_or_else(|_| Err(format!("the reader of {self:?} panicked")))
    }
}

fn utf8(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("it is not UTF-8: byte {at} is no character")
    })
}
