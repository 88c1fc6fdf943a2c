//! Outcomes of texts that hooks have seen, so that each is screened once.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use hmac::{Hmac, KeyInit, Mac};
use lru::LruCache;
use sha2::Sha256;

use crate::model::error::ProxyError;

/// How many texts are known at most.
const MOST: NonZeroUsize = NonZeroUsize::new(65_536).expect("it is not zero");

/// How many bytes the texts have at most that hooks wrote.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// What hooks made of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Same,
    Changed(Arc<str>),
    /// It is blocked, for this reason.
    Blocked(Arc<str>),
}

impl Outcome {
    fn bytes(&self) -> usize {
        match self {
            Self::Same => 0,
            Self::Changed(text) | Self::Blocked(text) => text.len(),
        }
    }
}

/// The digest of a text and of where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TextKey([u8; 32]);

/// The outcomes of the last texts, by digests with a key of this process. A text that is forgotten is screened again.
pub(crate) struct Known {
    /// As long as a block of the digest.
    key: [u8; 64],
    kept: Mutex<Kept>,
}

struct Kept {
    outcomes: LruCache<TextKey, Outcome>,
    bytes: usize,
}

impl Known {
    pub(crate) fn new() -> Result<Self, ProxyError> {
        let mut key = [0; 64];
        getrandom::fill(&mut key)
            .map_err(|error| ProxyError::Random(std::io::Error::other(error)))?;
        let kept = Kept { outcomes: LruCache::new(MOST), bytes: 0 };
        Ok(Self { key, kept: Mutex::new(kept) })
    }

    /// Returns the digest of these parts, none of which runs into the next.
    pub(crate) fn key(&self, parts: &[&str]) -> TextKey {
        let mut mac = <Hmac<Sha256> as KeyInit>::new(&self.key.into());
        for part in parts {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part.as_bytes());
        }
        TextKey(mac.finalize().into_bytes().into())
    }

    pub(crate) fn get(&self, key: TextKey) -> Option<Outcome> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.outcomes.get(&key).cloned()
    }

    pub(crate) fn put(&self, key: TextKey, outcome: Outcome) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes += outcome.bytes();
        if let Some((_, old)) = kept.outcomes.push(key, outcome) {
            kept.bytes -= old.bytes();
        }
        while kept.bytes > MOST_BYTES
            && let Some((_, oldest)) = kept.outcomes.pop_lru()
        {
            kept.bytes -= oldest.bytes();
        }
    }
}
