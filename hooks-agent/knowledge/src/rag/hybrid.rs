//! Two searches as one.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use futures::future::try_join;

use crate::rag::error::KnowledgeError;
use crate::rag::knowledge::{Knowledge, KnowledgeFuture};
use crate::rag::passage::Passage;

/// What is added to a rank, after Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion".
const K: f32 = 60.0;

/// How many passages each side is asked for, as a multiple of the limit.
const DEEPER: usize = 4;

/// Searches in two ways at once, such as by words and by vectors, and orders the passages of both
/// by reciprocal rank: a passage counts `1 / (60 + rank)` on each side that has it.
///
/// It is better than its better side only if each side finds what the other one misses. Words with
/// vectors of an embedder without a model [find less](https://docs.rs/hooks-agent/latest/hooks_agent/guide/builtin_knowledge/index.html#how-often-the-passage-is-found)
/// than words alone.
///
/// The score of a passage is the higher one of its scores. A passage of both sides may stand above
/// one of a higher score. A search fails if one side fails.
///
/// ```
/// use hooks_agent::builtin::knowledge::{Hybrid, Knowledge, KnowledgeFuture, Passage};
///
/// struct Fixed(&'static [&'static str]);
///
/// impl Knowledge for Fixed {
///     fn search<'a>(&'a self, _: &'a str, limit: usize) -> KnowledgeFuture<'a> {
///         let found = self.0.iter().map(|name| Passage::new("text", *name, 0.7));
///         let found = found.take(limit).collect();
///         Box::pin(async move { Ok(found) })
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let hybrid = Hybrid::new(Fixed(&["a", "b"]), Fixed(&["c", "b"]));
/// assert_eq!(hybrid.search("anything", 5).await?[0].source, "b");
/// # Ok::<(), hooks_agent::builtin::knowledge::KnowledgeError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct Hybrid {
    sides: [Arc<dyn Knowledge>; 2],
}

impl Hybrid {
    /// Searches both.
    pub fn new(first: impl Knowledge + 'static, second: impl Knowledge + 'static) -> Self {
        Self { sides: [Arc::new(first), Arc::new(second)] }
    }

    async fn search_both(&self, query: &str, limit: usize) -> Result<Vec<Passage>, KnowledgeError> {
        let [first, second] = &self.sides;
        let deeper = limit.saturating_mul(DEEPER);
        let both = try_join(first.search(query, deeper), second.search(query, deeper)).await?;
        Ok(fuse([both.0, both.1], limit))
    }
}

impl Knowledge for Hybrid {
    fn search<'a>(&'a self, query: &'a str, limit: usize) -> KnowledgeFuture<'a> {
        Box::pin(self.search_both(query, limit))
    }
}

/// Orders by the sum of reciprocal ranks; of equal sums, by the order of the lists.
fn fuse(lists: [Vec<Passage>; 2], limit: usize) -> Vec<Passage> {
    let mut places: HashMap<(String, usize, usize), usize> = HashMap::new();
    let mut fused: Vec<(f32, Passage)> = Vec::new();
    for list in lists {
        let ranks = (1..u16::MAX).chain(std::iter::repeat(u16::MAX));
        for (rank, passage) in ranks.zip(list) {
            let weight = 1.0 / (K + f32::from(rank));
            let range = &passage.range;
            let key = (passage.source.clone(), range.start, range.end);
            let place = *places.entry(key).or_insert(fused.len());
            match fused.get_mut(place) {
                Some((sum, known)) => {
                    *sum += weight;
                    known.score = known.score.max(passage.score);
                }
                None => fused.push((weight, passage)),
            }
        }
    }
    fused.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    fused.into_iter().map(|(_, passage)| passage).take(limit).collect()
}

impl fmt::Debug for Hybrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hybrid").finish_non_exhaustive()
    }
}
