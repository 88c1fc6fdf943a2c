//! The trait `AsyncFind`, which searches complete texts and takes its time, such as a model or a service.

use hooks_core::BoxFuture;

use crate::model::rewrite::find::Finding;
use crate::model::rewrite::sentence::sentence_end;
use crate::model::rewrite::used::Used;

/// The future of the findings in several texts, in the order of the texts.
pub type FindFuture<'a> = BoxFuture<'a, Vec<Vec<Finding>>>;

/// Finds what a [`Rewriter`](crate::model::Rewriter) replaces or blocks in complete texts, by asking someone
/// who takes time to answer.
///
/// A complete text is asked about as a whole. Of a text that streams, each [part](AsyncFind::part) is asked
/// about by itself, once it is complete; it is held back until then. What a rewriter has once decided on is
/// not asked about again in the call.
///
/// A text is blocked if the future panics, if it does not answer for it, or if a finding is outside of it.
/// Dropping the future ends the work.
///
/// ```
/// use hooks_agent::hook::Rewrite;
/// use hooks_agent::model::{AsyncFind, FindFuture, Finding, Rewriter};
/// use hooks_agent::prelude::*;
///
/// /// Blocks sentences that a classifier rejects.
/// struct Moderation;
///
/// impl Moderation {
///     async fn rejects(&self, text: &str) -> bool {
///         text.contains("rude") // A real one asks a service.
///     }
/// }
///
/// impl AsyncFind for Moderation {
///     fn find_in<'a>(&'a self, texts: &'a [&'a str]) -> FindFuture<'a> {
///         Box::pin(async move {
///             let mut all = Vec::new();
///             for text in texts {
///                 let block = || Finding::Block { range: 0..text.len(), reason: "it is rude".to_owned() };
///                 all.push(self.rejects(text).await.then(block).into_iter().collect());
///             }
///             all
///         })
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("fixed", |_| "Hello. You rude person. Good bye.");
/// let hook = Rewrite::from(Rewriter::asking(Moderation));
/// let agent = ReActAgent::builder("assistant").model(model).hook(hook).build()?;
/// let error = agent.call("Hello").await.unwrap_err();
/// assert_eq!(error.to_string(), "the answer of the model was blocked: it is rude");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub trait AsyncFind: Send + Sync + 'static {
    /// Returns the findings in each text, in the order of the texts. Those of one text are sorted, and none
    /// overlaps another. No text is empty.
    fn find_in<'a>(&'a self, texts: &'a [&'a str]) -> FindFuture<'a>;

    /// Returns the end of the part of a growing text that begins at `from`, if more text does not change it.
    /// It is after `from`. The default is the end of a sentence, of a line that is not wrapped, or of a
    /// paragraph.
    fn part(&self, text: &str, from: usize) -> Option<usize> {
        sentence_end(text, from)
    }

    /// Returns what becomes of a finding that is used; see [`Find::settle`](crate::model::Find::settle).
    fn settle(&self, found: &str, finding: Finding) -> Finding {
        let _ = found;
        finding
    }

    /// Notes a finding that was used; see [`Find::used`](crate::model::Find::used).
    fn used(&self, used: &Used<'_>) {
        let _ = used;
    }
}
