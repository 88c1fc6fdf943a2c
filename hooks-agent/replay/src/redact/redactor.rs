//! Replaces what finders find.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use crate::error::TapeError;
use crate::redact::find::Redact;
use crate::redact::numbers::Numbers;

/// The finders of a tape, with the numbers of what they found.
#[derive(Default)]
pub(crate) struct Redactor {
    finders: Vec<Arc<dyn Redact>>,
    /// By thread, because the calls of a thread come in one order.
    numbers: Mutex<HashMap<String, Numbers>>,
}

/// A part of a text that is replaced.
struct Span {
    range: Range<usize>,
    kind: String,
}

impl Redactor {
    pub(crate) fn new(finders: Vec<Arc<dyn Redact>>) -> Self {
        Self { finders, numbers: Mutex::default() }
    }

    /// Returns the kinds for the header, sorted.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<_> = self.finders.iter().flat_map(|finder| finder.kinds()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// Returns the version of the table of secrets, for the header.
    pub(crate) fn version(&self) -> Option<u32> {
        self.finders.iter().find_map(|finder| finder.version())
    }

    /// Redacts the id of a thread, whose numbers are those of the whole tape.
    pub(crate) fn thread(&self, id: &str) -> Result<String, TapeError> {
        self.text("", id)
    }

    /// Redacts a text of a thread.
    pub(crate) fn text(&self, thread: &str, text: &str) -> Result<String, TapeError> {
        contained(|| self.with_numbers(thread, |numbers| self.replaced(numbers, text)))
    }

    /// Redacts the texts of a value: strings, keys, numbers.
    pub(crate) fn value(&self, thread: &str, value: Value) -> Result<Value, TapeError> {
        contained(|| self.with_numbers(thread, |numbers| self.walk(numbers, value, None)))
    }

    /// Redacts the texts of a streamed answer. The texts of chunks of one kind are searched as one;
    /// what is found in several chunks is in the first of them.
    pub(crate) fn chunks(
        &self,
        thread: &str,
        mut chunks: Vec<Value>,
    ) -> Result<Vec<Value>, TapeError> {
        contained(|| {
            self.with_numbers(thread, |numbers| {
                for kind in ["thinking", "text"] {
                    self.replace_joined(numbers, kind, &mut chunks)?;
                }
                let is_text = |kind: &Value| kind == "thinking" || kind == "text";
                for chunk in &mut chunks {
                    if !is_text(&chunk[0]) {
                        let data = chunk[1].take();
                        chunk[1] = self.walk(numbers, data, None)?;
                    }
                }
                Ok(chunks)
            })
        })
    }

    fn with_numbers<T>(&self, thread: &str, work: impl FnOnce(&mut Numbers) -> T) -> T {
        let mut all = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains_key(thread) {
            all.insert(thread.to_owned(), Numbers::default());
        }
        work(all.get_mut(thread).expect("it is there"))
    }

    fn walk(
        &self,
        numbers: &mut Numbers,
        value: Value,
        field: Option<&str>,
    ) -> Result<Value, TapeError> {
        let kind = || field.and_then(|name| self.finders.iter().find_map(|it| it.field(name)));
        Ok(match value {
            Value::String(text) => Value::String(match kind() {
                Some(kind) if !text.is_empty() && !is_placeholder(&kind, &text) => {
                    numbers.placeholder(&kind, &text)
                }
                _ => self.replaced(numbers, &text)?,
            }),
            Value::Array(values) => {
                let walk = |value| self.walk(numbers, value, field);
                Value::Array(values.into_iter().map(walk).collect::<Result<_, _>>()?)
            }
            Value::Object(fields) => {
                // Sorted, so that numbers do not depend on the order of keys.
                let mut fields: Vec<_> = fields.into_iter().collect();
                fields.sort_unstable_by(|one, other| one.0.cmp(&other.0));
                let mut walked = Map::new();
                for (key, value) in fields {
                    let value = self.walk(numbers, value, Some(&key))?;
                    walked.insert(self.replaced(numbers, &key)?, value);
                }
                Value::Object(walked)
            }
            Value::Number(number) => {
                let text = number.to_string();
                let replaced = match kind() {
                    Some(kind) => numbers.placeholder(&kind, &text),
                    None => self.replaced(numbers, &text)?,
                };
                if replaced == text { Value::Number(number) } else { Value::String(replaced) }
            }
            other => other,
        })
    }

    fn replaced(&self, numbers: &mut Numbers, text: &str) -> Result<String, TapeError> {
        numbers.see(text);
        let mut replaced = String::with_capacity(text.len());
        let mut end = 0;
        for Span { range, kind } in self.spans(text)? {
            replaced.push_str(&text[end..range.start]);
            replaced.push_str(&numbers.placeholder(&kind, &text[range.clone()]));
            end = range.end;
        }
        replaced.push_str(&text[end..]);
        Ok(replaced)
    }

    fn replace_joined(
        &self,
        numbers: &mut Numbers,
        kind: &str,
        chunks: &mut [Value],
    ) -> Result<(), TapeError> {
        let mut parts: Vec<_> = chunks.iter_mut().filter(|chunk| chunk[0] == kind).collect();
        let text = |chunk: &Value| chunk[1].as_str().unwrap_or_default().to_owned();
        let texts: Vec<_> = parts.iter().map(|chunk| text(chunk)).collect();
        let joined = texts.concat();
        numbers.see(&joined);
        let spans = self.spans(&joined)?;
        if spans.is_empty() {
            return Ok(());
        }
        let mut replaced = vec![String::new(); texts.len()];
        let mut start = 0;
        for (text, replaced) in texts.iter().zip(&mut replaced) {
            let end = start + text.len();
            let mut at = start;
            for Span { range, kind } in spans.iter().filter(|it| it.range.end > start) {
                if range.start >= end {
                    break;
                }
                replaced.push_str(&joined[at..range.start.max(at)]);
                if range.start >= start {
                    replaced.push_str(&numbers.placeholder(kind, &joined[range.clone()]));
                }
                at = range.end.min(end);
            }
            replaced.push_str(&joined[at..end]);
            start = end;
        }
        for (chunk, text) in parts.iter_mut().zip(replaced) {
            chunk[1] = Value::String(text);
        }
        Ok(())
    }

    /// Returns what all finders find, in order, without overlaps.
    fn spans(&self, text: &str) -> Result<Vec<Span>, TapeError> {
        let mut spans: Vec<Span> = Vec::new();
        for found in self.finders.iter().flat_map(|finder| finder.find(text)) {
            if text.get(found.range.clone()).is_none() {
                return Err(TapeError::Finder { reason: "it found a range outside of the text" });
            }
            if !found.range.is_empty() {
                spans.push(Span { range: found.range, kind: found.kind });
            }
        }
        spans.sort_by_key(|span| (span.range.start, std::cmp::Reverse(span.range.end)));
        spans.dedup_by(|next, span| {
            let overlaps = next.range.start < span.range.end;
            if overlaps {
                span.range.end = span.range.end.max(next.range.end);
            }
            overlaps
        });
        Ok(spans)
    }
}

/// Returns whether a text is what stands in place of another one of this kind.
fn is_placeholder(kind: &str, text: &str) -> bool {
    let inner = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
    let number = inner.and_then(|inner| inner.strip_prefix(kind)?.strip_prefix(':'));
    number.is_some_and(|number| {
        (1..=6).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Returns a panic of a finder as an error.
fn contained<T>(work: impl FnOnce() -> Result<T, TapeError>) -> Result<T, TapeError> {
    let panicked = |_| Err(TapeError::Finder { reason: "it panicked" });
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked)
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("kinds", &self.kinds()).finish_non_exhaustive()
    }
}
