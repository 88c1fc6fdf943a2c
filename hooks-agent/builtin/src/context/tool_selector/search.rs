//! Finds the tools that a text is about: BM25 over names and descriptions.
//!
//! An agent has hundreds of tools with a sentence each, which other hooks may change in each round. An index
//! on disk would cost more than it saves, so the few thousand words are counted anew for each question.

use crate::context::tool_selector::words::words;
use hooks_agent_core::model::ToolSpec;

/// How much more a word in the name of a tool counts than one in its description.
const NAME: f64 = 3.0;

/// How soon repeated words stop counting, and how much short descriptions are preferred: the usual values.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The words of a tool.
struct Counts {
    /// How often each wanted word occurs.
    of: Vec<f64>,
    /// How many words there are.
    length: f64,
}

impl Counts {
    fn new(tool: &ToolSpec, wanted: &[String]) -> Self {
        let mut counts = Self { of: vec![0.0; wanted.len()], length: 0.0 };
        for (text, weight) in [(&tool.name, NAME), (&tool.description, 1.0)] {
            for word in words(text) {
                counts.length += weight;
                if let Ok(place) = wanted.binary_search(&word) {
                    counts.of[place] += weight;
                }
            }
        }
        counts
    }
}

/// Returns the places of the tools that have words of the text, best first; equal ones in their order.
pub(super) fn ranked(tools: &[&ToolSpec], text: &str) -> Vec<usize> {
    let mut wanted = words(text);
    wanted.sort_unstable();
    wanted.dedup();
    let counts: Vec<_> = tools.iter().map(|tool| Counts::new(tool, &wanted)).collect();
    let all = float(tools.len());
    let average = counts.iter().map(|counts| counts.length).sum::<f64>() / all.max(1.0);
    let mut scores = vec![0.0; tools.len()];
    for word in 0..wanted.len() {
        let found = float(counts.iter().filter(|counts| counts.of[word] > 0.0).count());
        // A word of most tools tells them apart by chance only.
        if found * 2.0 > all {
            continue;
        }
        let rarity = ((all - found + 0.5) / (found + 0.5)).ln_1p();
        for (score, counts) in
            scores.iter_mut().zip(&counts).filter(|(_, counts)| counts.of[word] > 0.0)
        {
            let length = 1.0 - B + B * counts.length / average;
            *score += rarity * counts.of[word] * (K1 + 1.0) / (counts.of[word] + K1 * length);
        }
    }
    let mut places: Vec<_> = (0..tools.len()).filter(|place| scores[*place] > 0.0).collect();
    places.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]));
    places
}

#[expect(clippy::cast_precision_loss, reason = "an agent has far fewer than 2^52 tools")]
fn float(count: usize) -> f64 {
    count as f64
}
