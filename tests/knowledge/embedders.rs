//! Embedders without a model.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_knowledge::{EmbedFuture, Embedder};

/// Counts runs of three characters, hashed into the numbers of a vector: texts that share spelling have
/// similar vectors. It counts the texts that it embeds.
#[derive(Clone, Default)]
pub(crate) struct Grams {
    pub(crate) embedded: Arc<AtomicUsize>,
}

const DIMENSION: usize = 512;

pub(crate) fn grams(text: &str) -> Vec<f32> {
    let lower = text.to_lowercase();
    let words = lower.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut counts: HashMap<u64, f32> = HashMap::new();
    for word in words {
        let size = if word.is_ascii() { 3 } else { 2 };
        let padded: Vec<char> =
            if word.is_ascii() { format!("^{word}$") } else { word.to_owned() }.chars().collect();
        for gram in padded.windows(size.min(padded.len())) {
            // FNV-1a.
            let hash = gram.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, char| {
                (hash ^ u64::from(*char)).wrapping_mul(0x0100_0000_01b3)
            });
            *counts.entry(hash >> 16).or_default() += 1.0;
        }
    }
    let mut vector = vec![0.0_f32; DIMENSION];
    for (hash, count) in counts {
        let sign = if hash & 1 == 0 { 1.0 } else { -1.0 };
        let place = usize::try_from((hash >> 1) % DIMENSION as u64).unwrap();
        vector[place] += sign * count.ln_1p();
    }
    vector
}

impl Embedder for Grams {
    fn name(&self) -> &'static str {
        "grams"
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> EmbedFuture<'a> {
        self.embedded.fetch_add(texts.len(), Ordering::Relaxed);
        let vectors = texts.iter().map(|text| grams(text)).collect();
        Box::pin(async move { Ok(vectors) })
    }
}

/// Answers each batch by a closure.
pub(crate) struct Closure<F>(pub(crate) &'static str, pub(crate) usize, pub(crate) F);

impl<F> Embedder for Closure<F>
where
    F: Fn(&[String]) -> EmbedFuture<'static> + Send + Sync,
{
    fn name(&self) -> &str {
        self.0
    }

    fn dimension(&self) -> usize {
        self.1
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> EmbedFuture<'a> {
        (self.2)(texts)
    }
}
