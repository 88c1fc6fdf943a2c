//! Vectors of texts.

use std::pin::Pin;
use std::sync::Arc;

use hooks_core::BoxError;

/// The future of a batch of vectors, in the order of the texts.
pub type EmbedFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<Vec<f32>>, BoxError>> + Send + 'a>>;

/// Turns texts into vectors, so that texts of a similar meaning have similar vectors.
///
/// ```
/// use hooks_agent::model::{EmbedFuture, Embedder};
///
/// /// Counts vowels. A real embedder asks a model.
/// struct Vowels;
///
/// impl Embedder for Vowels {
///     fn name(&self) -> &str {
///         "vowels"
///     }
///
///     fn dimension(&self) -> usize {
///         5
///     }
///
///     fn embed<'a>(&'a self, texts: &'a [String]) -> EmbedFuture<'a> {
///         let count = |text: &str, vowel| text.matches(vowel).map(|_| 1.0).sum();
///         let vector = |text: &String| ['a', 'e', 'i', 'o', 'u'].map(|vowel| count(text, vowel));
///         let vectors = texts.iter().map(|text| vector(text).to_vec()).collect();
///         Box::pin(async move { Ok(vectors) })
///     }
/// }
/// ```
pub trait Embedder: Send + Sync {
    /// Returns the name. Vectors of another name are not searched, so it names the model.
    fn name(&self) -> &str;

    /// Returns the length of each vector.
    fn dimension(&self) -> usize;

    /// Returns a vector for each text. Dropping the future ends the work.
    ///
    /// # Errors
    /// Its text reaches logs and callers, so it has no key and no text of a document.
    fn embed<'a>(&'a self, texts: &'a [String]) -> EmbedFuture<'a>;
}

/// Forwards to the shared embedder.
impl<E: Embedder + ?Sized> Embedder for Arc<E> {
    fn name(&self) -> &str {
        E::name(self)
    }

    fn dimension(&self) -> usize {
        E::dimension(self)
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> EmbedFuture<'a> {
        E::embed(self, texts)
    }
}
