//! Vectors that are checked.

use std::sync::Arc;
use std::time::Duration;

use crate::rag::error::KnowledgeError;
use hooks_agent_core::model::Embedder;

/// The most characters of a query. Those that follow are left out.
const LONGEST_QUERY: usize = 8192;

/// An embedder with the longest time of a batch.
#[derive(Clone)]
pub(super) struct Checked {
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) timeout: Option<Duration>,
}

impl Checked {
    pub(super) fn new(embedder: impl Embedder + 'static) -> Self {
        Self { embedder: Arc::new(embedder), timeout: None }
    }

    /// Returns a vector of length 1 for each text. A vector of zeros stays one.
    pub(super) async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, KnowledgeError> {
        let name = || self.embedder.name().to_owned();
        let embed = self.embedder.embed(texts);
        let embedded = match self.timeout {
            None => embed.await,
            Some(after) => tokio::time::timeout(after, embed)
                .await
                .map_err(|_| KnowledgeError::TimedOut { after })?,
        };
        let vectors =
            embedded.map_err(|source| KnowledgeError::Embedder { embedder: name(), source })?;
        let (expected, found) = (texts.len(), vectors.len());
        if expected != found {
            return Err(KnowledgeError::VectorCount { embedder: name(), expected, found });
        }
        vectors.into_iter().map(|vector| self.checked(vector)).collect()
    }

    /// Returns the vector of a query.
    pub(super) async fn embed_query(&self, query: &str) -> Result<Vec<f32>, KnowledgeError> {
        let query = [query.chars().take(LONGEST_QUERY).collect::<String>()];
        Ok(self.embed(&query).await?.pop().unwrap_or_default())
    }

    #[allow(clippy::cast_possible_truncation)]
    fn checked(&self, mut vector: Vec<f32>) -> Result<Vec<f32>, KnowledgeError> {
        let embedder = || self.embedder.name().to_owned();
        let (expected, found) = (self.embedder.dimension(), vector.len());
        if expected != found {
            return Err(KnowledgeError::VectorLength { embedder: embedder(), expected, found });
        }
        let square: f64 = vector.iter().map(|value| f64::from(*value).powi(2)).sum();
        if !square.is_finite() {
            return Err(KnowledgeError::VectorValue { embedder: embedder() });
        }
        if square > 0.0 {
            let length = square.sqrt();
            for value in &mut vector {
                *value = (f64::from(*value) / length) as f32;
            }
        }
        Ok(vector)
    }
}
