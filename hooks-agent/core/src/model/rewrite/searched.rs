//! Texts that rewriters have decided on, which they do not search again.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sha2::{Digest, Sha256};
use smallvec::SmallVec;

use crate::model::rewrite::block::found;
use crate::model::rewrite::find::Find;

/// The texts that a rewriter has decided on: those that it wrote, and those that it left as they are and
/// another one changed.
///
/// A replacement makes new boundaries of words, so a second search may find more than the first one
/// did, after the stream has shown it. One search decides for stream, memory, reply and later requests.
/// What another search would change is noted for longer than the call; it is rare.
#[derive(Clone)]
pub(crate) struct Searched {
    by: Arc<Decider>,
    call: Arc<CallTexts>,
    /// The texts that are searched whoever has decided on them.
    more: Option<Arc<More>>,
    notes: Notes,
}

/// What of its decisions a rewriter notes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notes {
    All,
    Changes,
    Nothing,
}

type More = dyn Fn(&str) -> bool + Send + Sync;

/// Who has decided on the texts of a call. Most texts are short, and all are asked for by each rewriter.
#[derive(Default)]
pub(crate) struct CallTexts {
    /// Nobody knows them, so nobody writes two texts of one digest.
    keys: [RandomState; 2],
    texts: Mutex<Texts>,
}

type Texts = HashMap<[u64; 2], SmallVec<[Arc<Decider>; 2]>>;

/// Keeps the digests of texts for longer than a call.
pub(crate) trait KeepDigests: Send + Sync {
    fn has(&self, digest: &str) -> bool;

    fn keep(&self, digest: &str);
}

struct Decider {
    /// What the digests of kept texts begin with: who searches for something else has another one.
    id: Arc<str>,
    /// What tells whether a text would change. Of one who asks, nobody knows.
    find: Option<Arc<dyn Find>>,
    kept: Arc<dyn KeepDigests>,
}

impl Searched {
    pub(super) fn new(
        id: Arc<str>,
        find: Option<Arc<dyn Find>>,
        call: Arc<CallTexts>,
        kept: Arc<dyn KeepDigests>,
    ) -> Self {
        let by = Arc::new(Decider { id, find, kept });
        Self { by, call, more: None, notes: Notes::All }
    }

    /// Searches the texts in which there is more to find than the rewriter finds.
    pub(super) fn unless(self, more: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self { more: Some(Arc::new(more)), ..self }
    }

    /// Notes changes alone.
    pub(super) fn changes_only(self) -> Self {
        Self { notes: Notes::Changes, ..self }
    }

    /// Notes nothing.
    pub(super) fn reading(self) -> Self {
        Self { notes: Notes::Nothing, ..self }
    }

    /// Returns whether the rewriter has decided on the text.
    pub(super) fn has(&self, text: &str) -> bool {
        if self.more.as_ref().is_some_and(|more| more(text)) {
            return false;
        }
        let in_call = self.call.deciders(text).iter().any(|by| by.id == self.by.id);
        if in_call && self.by.find.is_some() {
            // The thread may be another one than that of the text.
            self.by.keep(text);
        }
        in_call || self.by.kept.has(&self.by.digest(text))
    }

    /// Notes a text in which there is nothing to rewrite.
    pub(super) fn unchanged(&self, text: &str) {
        if self.notes == Notes::All {
            self.call.add(text, &self.by);
        }
    }

    /// Notes what the rewriter wrote. Who has decided on the text before has decided on it.
    pub(super) fn wrote(&self, before: &str, after: &str) {
        if self.notes == Notes::Nothing {
            return;
        }
        self.call.became(before, after);
        self.call.decide(after, &self.by);
    }
}

impl CallTexts {
    /// Notes that a text became another one without a rewriter: who has decided on it has decided on what
    /// it became.
    pub(crate) fn became(&self, before: &str, after: &str) {
        for by in self.deciders(before) {
            self.decide(after, &by);
        }
    }

    /// Notes a decision, for longer than the call if the text would change.
    fn decide(&self, text: &str, by: &Arc<Decider>) {
        let changes = |find: &Arc<dyn Find>| matches!(found(&**find, text, 0), Ok(Some(_)));
        if self.add(text, by) && by.find.as_ref().is_none_or(changes) {
            by.keep(text);
        }
    }

    fn deciders(&self, text: &str) -> SmallVec<[Arc<Decider>; 2]> {
        self.lock().get(&self.digest(text)).cloned().unwrap_or_default()
    }

    fn digest(&self, text: &str) -> [u64; 2] {
        self.keys.each_ref().map(|key| key.hash_one(text))
    }

    /// Returns whether the decision is new.
    fn add(&self, text: &str, by: &Arc<Decider>) -> bool {
        let digest = self.digest(text);
        let mut texts = self.lock();
        let deciders = texts.entry(digest).or_default();
        let is_new = deciders.iter().all(|other| other.id != by.id);
        if is_new {
            deciders.push(by.clone());
        }
        is_new
    }

    fn lock(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Decider {
    fn keep(&self, text: &str) {
        self.kept.keep(&self.digest(text));
    }

    fn digest(&self, text: &str) -> String {
        STANDARD_NO_PAD.encode(&digest(&[&self.id, text])[..16])
    }
}

/// Hashes parts, each with its length, so that no two lists of parts are the same text.
fn digest(parts: &[&str]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    digest.finalize().into()
}

impl fmt::Debug for Searched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Searched").field("id", &self.by.id).finish_non_exhaustive()
    }
}
