//! Vectors in memory, searched exactly.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::rag::digest::Digest;

/// How many products are added up at once, so that the compiler uses vector instructions.
const LANES: usize = 16;

/// Vectors of one length, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Matrix {
    pub(super) dimension: usize,
    pub(super) digests: Vec<Digest>,
    pub(super) values: Vec<f32>,
}

/// A vector that was found, ordered by its score.
#[derive(PartialEq)]
struct Scored(f32, usize);

impl Eq for Scored {}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(other.1.cmp(&self.1))
    }
}

impl Matrix {
    pub(super) fn new(dimension: usize) -> Self {
        Self { dimension, digests: Vec::new(), values: Vec::new() }
    }

    pub(super) fn push(&mut self, digest: Digest, vector: &[f32]) {
        debug_assert_eq!(vector.len(), self.dimension);
        self.digests.push(digest);
        self.values.extend_from_slice(vector);
    }

    /// Keeps the vectors of these digests.
    pub(super) fn retain(&mut self, keep: impl Fn(&Digest) -> bool) {
        let mut kept = 0;
        for at in 0..self.digests.len() {
            if keep(&self.digests[at]) {
                self.digests[kept] = self.digests[at];
                let from = at * self.dimension;
                self.values.copy_within(from..from + self.dimension, kept * self.dimension);
                kept += 1;
            }
        }
        self.digests.truncate(kept);
        self.values.truncate(kept * self.dimension);
    }

    /// Returns the digests of the vectors that are nearest to this one, with their cosines, the
    /// nearest first. All vectors have length 1.
    pub(super) fn nearest(&self, vector: &[f32], limit: usize) -> Vec<(f32, Digest)> {
        let limit = limit.min(self.digests.len());
        if limit == 0 || self.dimension == 0 {
            return Vec::new();
        }
        let mut best: BinaryHeap<Reverse<Scored>> = BinaryHeap::with_capacity(limit + 1);
        for (at, other) in self.values.chunks_exact(self.dimension).enumerate() {
            let scored = Scored(dot(vector, other), at);
            if best.len() < limit {
                best.push(Reverse(scored));
            } else if best.peek().is_some_and(|least| scored > least.0) {
                best.pop();
                best.push(Reverse(scored));
            }
        }
        let best = best.into_sorted_vec();
        best.into_iter().map(|Reverse(Scored(score, at))| (score, self.digests[at])).collect()
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}
