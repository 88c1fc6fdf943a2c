//! Models that recognize names, addresses and the like in texts.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use hooks_core::{BoxError, BoxFuture};

/// The future of what was recognized in several texts, in the order of the texts.
pub type RecognizeFuture<'a> = BoxFuture<'a, Result<Vec<Vec<Recognized>>, BoxError>>;

/// What a [`Recognizer`] recognized at a place of a text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Recognized {
    /// What it is, such as `person`.
    pub kind: Cow<'static, str>,
    /// Where it is, in bytes.
    pub range: Range<usize>,
    /// How sure the recognizer is, from 0 to 1.
    pub score: f32,
}

impl Recognized {
    /// Something of this kind in this range of bytes.
    #[must_use]
    pub fn new(kind: impl Into<Cow<'static, str>>, range: Range<usize>, score: f32) -> Self {
        Self { kind: kind.into(), range, score }
    }
}

/// Recognizes what has no form that a pattern could find, such as the names of people, by a model.
///
/// ```
/// use hooks_agent::model::{RecognizeFuture, Recognized, Recognizer};
///
/// /// Knows one name. A real one asks a model.
/// struct Ada;
///
/// impl Recognizer for Ada {
///     fn name(&self) -> &str {
///         "ada"
///     }
///
///     fn recognize<'a>(&'a self, texts: &'a [&'a str]) -> RecognizeFuture<'a> {
///         let find = |text: &&str| {
///             let found = text.match_indices("Ada").map(|(at, name)| at..at + name.len());
///             found.map(|range| Recognized::new("person", range, 0.9)).collect()
///         };
///         let found = texts.iter().map(find).collect();
///         Box::pin(async move { Ok(found) })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not recognize anything in texts",
    note = "implement `Recognizer`, or use `RemoteRecognizer` for one behind a URL"
)]
pub trait Recognizer: Send + Sync + 'static {
    /// Returns the name. One that recognizes something else has another name, so it names the model.
    fn name(&self) -> &str;

    /// Returns what is in each text, in any order; it may overlap. Places count bytes: one that is outside of the
    /// text, empty, or within a character is a failure. Dropping the future ends the work.
    ///
    /// # Errors
    /// Its text reaches logs, models and callers, so it has nothing of the texts.
    fn recognize<'a>(&'a self, texts: &'a [&'a str]) -> RecognizeFuture<'a>;
}

/// Forwards to the shared recognizer.
impl<R: Recognizer + ?Sized> Recognizer for Arc<R> {
    fn name(&self) -> &str {
        R::name(self)
    }

    fn recognize<'a>(&'a self, texts: &'a [&'a str]) -> RecognizeFuture<'a> {
        R::recognize(self, texts)
    }
}
