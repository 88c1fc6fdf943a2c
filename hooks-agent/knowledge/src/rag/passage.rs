//! Passages of documents, the results of a search.

use std::ops::{Range, RangeInclusive};

use serde::{Deserialize, Serialize};

/// A passage of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Passage {
    /// The text.
    pub text: String,
    /// The document: of a [`TextIndex`](crate::TextIndex), the path in its folder, with `/`.
    pub source: String,
    /// The bytes of the text in the document. Of HTML and PDF, in the text that was read from it.
    pub range: Range<usize>,
    /// The lines of the text in the document, from 1. `None` for HTML and PDF.
    pub lines: Option<RangeInclusive<usize>>,
    /// What stands above the passage: the headings, or the page.
    pub title: Option<String>,
    /// How well the passage fits the query, from 0 to 1. The knowledge says what it means.
    pub score: f32,
}

impl Passage {
    /// Creates a passage that is the whole document.
    #[must_use]
    pub fn new(text: impl Into<String>, source: impl Into<String>, score: f32) -> Self {
        let (text, source) = (text.into(), source.into());
        let range = 0..text.len();
        Self { text, source, range, lines: None, title: None, score }
    }

    /// Sets the bytes of the text in the document.
    #[must_use]
    pub fn with_range(mut self, range: Range<usize>) -> Self {
        self.range = range;
        self
    }

    /// Sets the lines of the text in the document, from 1.
    #[must_use]
    pub fn with_lines(mut self, lines: impl Into<Option<RangeInclusive<usize>>>) -> Self {
        self.lines = lines.into();
        self
    }

    /// Sets what stands above the passage.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<Option<String>>) -> Self {
        self.title = title.into();
        self
    }

    /// Returns the document with the lines, or else the bytes, such as `docs/agents.md:3-9`.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.lines {
            Some(lines) => format!("{}:{}-{}", self.source, lines.start(), lines.end()),
            None => format!("{} (bytes {}..{})", self.source, self.range.start, self.range.end),
        }
    }
}

/// The passages that [`Rag`](crate::Rag) found for a call, as a value of its
/// [context](hooks_agent_core::call::CallContext::get). Of several hooks, those of the last one that searched.
///
/// A hook that names the sources:
///
/// ```
/// use hooks_agent::builtin::knowledge::Passages;
/// use hooks_agent::prelude::*;
///
/// let cite = on(|event: &mut PostCall<'_>| {
///     for passage in event.context().get::<Passages>().iter().flat_map(|found| found.iter()) {
///         event.final_message_mut().push_text(&format!("\n[{}]", passage.place()));
///     }
/// });
/// # let _ = cite;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passages(Vec<Passage>);

impl Passages {
    /// Returns the passages, the best one first.
    pub fn iter(&self) -> std::slice::Iter<'_, Passage> {
        self.0.iter()
    }

    /// Returns the number of passages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there is no passage.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Vec<Passage>> for Passages {
    fn from(passages: Vec<Passage>) -> Self {
        Self(passages)
    }
}

impl<'a> IntoIterator for &'a Passages {
    type Item = &'a Passage;
    type IntoIter = std::slice::Iter<'a, Passage>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
