//! A search with a limit, a threshold and a timeout.

use std::sync::Arc;
use std::time::Duration;

use crate::rag::error::KnowledgeError;
use crate::rag::knowledge::Knowledge;
use crate::rag::passage::Passage;

/// What happens if a search fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnFailure {
    /// The call fails. An answer without the documents looks like one that is taken from them.
    #[default]
    Fail,
    /// The model answers without passages and reads that the search failed; the error is reported
    /// through `tracing`.
    Continue,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) limit: usize,
    pub(super) threshold: f32,
    pub(super) share_of_best: f32,
    pub(super) timeout: Option<Duration>,
    pub(super) on_failure: OnFailure,
    pub(super) as_tool: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limit: 5,
            threshold: 0.35,
            share_of_best: 0.6,
            timeout: None,
            on_failure: OnFailure::Fail,
            as_tool: false,
        }
    }
}

/// Searches, and returns the passages that reach the threshold and come near the best one.
pub(super) async fn search(
    knowledge: &Arc<dyn Knowledge>,
    settings: Settings,
    query: &str,
    limit: usize,
) -> Result<Vec<Passage>, KnowledgeError> {
    let search = knowledge.search(query, limit);
    let mut passages = match settings.timeout {
        None => search.await?,
        Some(after) => tokio::time::timeout(after, search)
            .await
            .map_err(|_| KnowledgeError::TimedOut { after })??,
    };
    let least = least(settings, &passages);
    // A score that is no number reaches no threshold.
    passages.retain(|passage| passage.score >= least);
    passages.truncate(limit);
    Ok(passages)
}

/// Returns the lowest score of a passage that is shown. A score that is no number is not the best one.
pub(super) fn least(settings: Settings, passages: &[Passage]) -> f32 {
    let best = passages.iter().map(|passage| passage.score).fold(0.0, f32::max);
    settings.threshold.max(settings.share_of_best * best)
}
