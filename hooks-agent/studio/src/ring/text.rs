//! The text of an entry, written when somebody reads it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// The JSON of an entry: without its opening brace, as the number is added in front; whole for an
/// approval. A clone shares it.
///
/// The JSON is written when an entry is first read, so a call without readers does not pay for it.
#[derive(Clone)]
pub(crate) struct Text {
    /// About how long it is.
    size: usize,
    form: Arc<dyn Form>,
}

/// What a text is, until it is read and from then on.
trait Form: Send + Sync {
    /// Returns the text. One that cannot be written says nothing.
    fn read(&self) -> Arc<str>;
}

/// A text that is written when it is read.
enum Later<F> {
    Unwritten(F),
    Written(Arc<str>),
}

impl<F: FnOnce() -> Arc<str> + Send> Form for Mutex<Later<F>> {
    fn read(&self) -> Arc<str> {
        let mut form = self.lock().unwrap_or_else(PoisonError::into_inner);
        if let Later::Written(text) = &*form {
            return text.clone();
        }
        let nothing: Arc<str> = r#""type":"hidden"}"#.into();
        let unwritten = std::mem::replace(&mut *form, Later::Written(nothing.clone()));
        let Later::Unwritten(write) = unwritten else { return nothing };
        let text = catch_unwind(AssertUnwindSafe(write)).unwrap_or(nothing);
        *form = Later::Written(text.clone());
        text
    }
}

impl Form for Arc<str> {
    fn read(&self) -> Arc<str> {
        self.clone()
    }
}

impl Text {
    /// Creates a text of about this length that is written when it is read.
    pub(crate) fn later(size: usize, write: impl FnOnce() -> Arc<str> + Send + 'static) -> Self {
        Self { size, form: Arc::new(Mutex::new(Later::Unwritten(write))) }
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Returns the text. One that cannot be written says nothing.
    pub(crate) fn read(&self) -> Arc<str> {
        self.form.read()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self { size: text.len(), form: Arc::new(Arc::<str>::from(text)) }
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Text").field("size", &self.size).finish_non_exhaustive()
    }
}
