//! Answers of a recognizer, by the digest of the text.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;

use hooks_agent_core::model::Recognized;

/// The latest answers. It has no texts: they are known by digests with keys that nobody knows, so nobody
/// writes two texts of one digest.
pub(super) struct Cache {
    keys: [RandomState; 2],
    answers: Mutex<LruCache<[u64; 2], Answer>>,
}

pub(super) type Answer = Arc<[Recognized]>;

impl Cache {
    pub(super) fn new(capacity: NonZeroUsize) -> Self {
        Self { keys: Default::default(), answers: Mutex::new(LruCache::new(capacity)) }
    }

    pub(super) fn get(&self, text: &str) -> Option<Answer> {
        let digest = self.digest(text);
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get(&digest).cloned()
    }

    pub(super) fn keep(&self, text: &str, answer: Answer) {
        let digest = self.digest(text);
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).put(digest, answer);
    }

    fn digest(&self, text: &str) -> [u64; 2] {
        self.keys.each_ref().map(|key| key.hash_one(text))
    }
}
