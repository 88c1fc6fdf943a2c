//! Measures how well a search finds passages, on questions of the program.

use std::sync::Arc;

use crate::rag::error::KnowledgeError;
use crate::rag::knowledge::Knowledge;
use crate::rag::search::{Settings, least, search};

/// How a [`Rag`](crate::Rag) does on questions of which the document with the answer
/// is known. See [`Rag::measure`](crate::Rag::measure).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// The questions.
    pub asked: usize,
    /// The questions for which the search returns a passage of the document, whatever its score. The rest
    /// is not a matter of scores: raise the [`limit`](crate::Rag::limit), or change
    /// the knowledge.
    pub found: usize,
    /// The questions for which the model reads a passage of the document, as the hook is set.
    pub shown: usize,
    /// The passages of other documents that the model reads, as the hook is set.
    pub others: usize,
    /// The score of the best passage of the document, of each question for which there is one.
    scores: Vec<f32>,
    /// The same as a share of the best score of the search.
    shares: Vec<f32>,
}

impl Measured {
    /// Returns the highest [`threshold`](crate::Rag::threshold) at which all but `lost`
    /// of the [found](Self::found) questions keep their passage. 0 if that are all of them.
    #[must_use]
    pub fn threshold(&self, lost: usize) -> f32 {
        highest(&self.scores, lost)
    }

    /// Returns the highest [`share_of_best`](crate::Rag::share_of_best) at which all but
    /// `lost` of the [found](Self::found) questions keep their passage. 0 if that are all of them.
    #[must_use]
    pub fn share_of_best(&self, lost: usize) -> f32 {
        // A share of a score is not exact.
        (highest(&self.shares, lost) - 2.0 * f32::EPSILON).max(0.0)
    }
}

/// Asks the questions, each with the source of the passages that have the answer.
pub(super) async fn measure(
    knowledge: &Arc<dyn Knowledge>,
    settings: Settings,
    questions: Vec<(String, String)>,
) -> Result<Measured, KnowledgeError> {
    let mut measured = Measured { asked: questions.len(), ..Measured::default() };
    let all = Settings { threshold: 0.0, share_of_best: 0.0, ..settings };
    for (question, source) in questions {
        let passages = search(knowledge, all, &question, settings.limit).await?;
        let least = least(settings, &passages);
        let is_right = |of: &String| *of == source;
        let shown = passages.iter().filter(|passage| passage.score >= least);
        measured.others += shown.filter(|passage| !is_right(&passage.source)).count();
        let right = passages.iter().filter(|passage| is_right(&passage.source));
        let Some(score) = right.map(|passage| passage.score).max_by(f32::total_cmp) else {
            continue;
        };
        let best = passages.iter().map(|passage| passage.score).fold(score, f32::max);
        measured.found += 1;
        measured.shown += usize::from(score >= least);
        measured.scores.push(score);
        measured.shares.push(if best > 0.0 { score / best } else { 1.0 });
    }
    Ok(measured)
}

/// Returns the highest value that all but `lost` of them reach.
fn highest(values: &[f32], lost: usize) -> f32 {
    let mut values = values.to_vec();
    values.sort_by(f32::total_cmp);
    values.get(lost).copied().unwrap_or(0.0)
}
