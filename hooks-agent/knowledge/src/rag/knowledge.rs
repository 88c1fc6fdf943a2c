//! The trait `Knowledge`, which `Rag` searches.

use std::pin::Pin;
use std::sync::Arc;

use crate::rag::error::KnowledgeError;
use crate::rag::passage::Passage;

/// The future of a search.
pub type KnowledgeFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<Passage>, KnowledgeError>> + Send + 'a>>;

/// What can be searched for passages: an index of documents, a database, a service.
///
/// ```
/// use hooks_agent::builtin::knowledge::{Knowledge, KnowledgeFuture, Passage};
///
/// struct Glossary;
///
/// impl Knowledge for Glossary {
///     fn search<'a>(&'a self, query: &'a str, limit: usize) -> KnowledgeFuture<'a> {
///         Box::pin(async move {
///             let text = "A hook is code that runs at a hook point.";
///             let found = query.contains("hook").then(|| Passage::new(text, "glossary", 1.0));
///             Ok(found.into_iter().take(limit).collect())
///         })
///     }
/// }
///
/// # futures::executor::block_on(async {
/// assert_eq!(Glossary.search("What is a hook?", 5).await?[0].source, "glossary");
/// # Ok::<(), hooks_agent::builtin::knowledge::KnowledgeError>(())
/// # }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not knowledge",
    note = "`TextIndex` is, of a folder of documents; opening one returns a future: `.await?`"
)]
pub trait Knowledge: Send + Sync {
    /// Returns at most `limit` passages about the query, the best one first. Dropping the future
    /// ends the search.
    ///
    /// The [score](Passage::score) of a passage is between 0 and 1. Each knowledge says what it
    /// means, and may order passages by more than their scores.
    fn search<'a>(&'a self, query: &'a str, limit: usize) -> KnowledgeFuture<'a>;
}

/// Forwards to the shared knowledge.
impl<K: Knowledge + ?Sized> Knowledge for Arc<K> {
    fn search<'a>(&'a self, query: &'a str, limit: usize) -> KnowledgeFuture<'a> {
        K::search(self, query, limit)
    }
}
