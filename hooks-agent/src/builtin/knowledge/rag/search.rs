//! A search with a limit, a threshold and a timeout.

use std::sync::Arc;

use crate::builtin::knowledge::rag::settings::Settings;
use crate::builtin::knowledge::{Knowledge, KnowledgeError, Passage};

/// Searches, and returns the passages that reach the threshold.
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
    // A score that is no number reaches no threshold.
    passages.retain(|passage| passage.score >= settings.threshold);
    passages.truncate(limit);
    Ok(passages)
}
