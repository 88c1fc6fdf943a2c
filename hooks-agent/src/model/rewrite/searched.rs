//! Texts that a rewriter has written, which it does not search again.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

/// The most texts of a generation; two generations are kept.
const MOST: usize = 4096;

/// Texts that were written in place of others, of which only digests are kept: the last thousands.
///
/// A replacement makes new boundaries of words, so a second search may find more than the first one
/// did, after the stream has shown it. One search decides for stream, memory and reply.
#[derive(Clone, Debug, Default)]
pub(crate) struct Searched(Arc<Mutex<Generations>>);

#[derive(Debug, Default)]
struct Generations {
    recent: HashSet<[u8; 32]>,
    older: HashSet<[u8; 32]>,
}

/// The texts of one conversation.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    searched: Searched,
    /// What the digests begin with: a text of one conversation says nothing about another.
    of: Sha256,
}

/// A text that is written in parts.
#[derive(Clone, Debug)]
pub(super) struct Said(Sha256);

impl Searched {
    /// Returns the texts of a conversation.
    pub(crate) fn of(&self, conversation: &[&str]) -> Scope {
        let mut of = Sha256::new();
        for part in conversation {
            of.update((part.len() as u64).to_le_bytes());
            of.update(part);
        }
        Scope { searched: self.clone(), of }
    }

    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scope {
    /// Notes a text.
    pub(super) fn note(&self, said: &Said) {
        let digest = self.digest(said);
        let mut generations = self.searched.lock();
        if generations.recent.len() >= MOST {
            generations.older = std::mem::take(&mut generations.recent);
        }
        generations.recent.insert(digest);
    }

    /// Returns whether the text was noted.
    pub(super) fn has(&self, text: &str) -> bool {
        let digest = self.digest(&Said::new(text));
        let generations = self.searched.lock();
        generations.recent.contains(&digest) || generations.older.contains(&digest)
    }

    fn digest(&self, said: &Said) -> [u8; 32] {
        self.of.clone().chain_update(said.0.clone().finalize()).finalize().into()
    }
}

impl Said {
    pub(super) fn new(text: &str) -> Self {
        Self(Sha256::new_with_prefix(text))
    }

    pub(super) fn push(&mut self, text: &str) {
        self.0.update(text);
    }
}
