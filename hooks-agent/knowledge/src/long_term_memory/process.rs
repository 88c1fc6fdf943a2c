//! Memories of one process.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::long_term_memory::error::MemoriesError;
use crate::long_term_memory::limits::MemoryLimits;
use crate::long_term_memory::memories::{Added, Forget, Memories, MemoriesFuture};
use crate::long_term_memory::remembered::Remembered;
use crate::long_term_memory::words::{digest, words};

/// What a word that one entry alone has counts. A word of several entries counts less.
const WEIGHT: usize = 1_000_000;

/// Memories in the process, which end with it: for tests, and for programs that export them. A clone
/// shares them.
///
/// ```
/// use hooks_agent::builtin::knowledge::{Memories, ProcessMemories, Remembered};
///
/// # futures::executor::block_on(async {
/// let memories = ProcessMemories::new();
/// memories.add(vec![Remembered::new("ada", "Ada has a cat.")]).await?;
/// assert_eq!(memories.search("ada", "Who has a cat?", 5).await?[0].text, "Ada has a cat.");
/// assert!(memories.list("bob").await?.is_empty());
/// # Ok::<(), hooks_agent::builtin::knowledge::MemoriesError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
pub struct ProcessMemories {
    users: Arc<Mutex<HashMap<Arc<str>, Vec<Entry>>>>,
    limits: MemoryLimits,
}

struct Entry {
    remembered: Remembered,
    digest: [u8; 32],
    words: HashSet<String>,
}

impl ProcessMemories {
    /// Creates memories of nobody.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the most entries of a user; 1,000 by default.
    #[must_use]
    pub fn max_entries(mut self, entries: usize) -> Self {
        self.limits.entries = entries;
        self
    }

    /// Sets the longest text of an entry, in bytes; 2,048 by default.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.limits.bytes = bytes;
        self
    }

    fn users(&self) -> MutexGuard<'_, HashMap<Arc<str>, Vec<Entry>>> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_all(&self, entries: Vec<Remembered>) -> Result<Added, MemoriesError> {
        self.limits.check(&entries)?;
        let (mut users, mut added) = (self.users(), Added::default());
        for remembered in entries {
            let known = users.entry(remembered.user.clone()).or_default();
            let digest = digest(&remembered.text);
            let words = words(&remembered.text).into_iter().collect();
            let is_same = |it: &Entry| it.digest == digest || it.remembered.id == remembered.id;
            if known.iter().any(is_same) {
                added.known += 1;
                continue;
            }
            let place = known.partition_point(|it| it.remembered.at <= remembered.at);
            known.insert(place, Entry { remembered, digest, words });
            added.written += 1;
            let surplus = known.len().saturating_sub(self.limits.entries);
            added.removed.extend(known.drain(..surplus).map(|entry| entry.remembered));
        }
        Ok(added)
    }

    fn find(&self, user: &str, query: &str, limit: usize) -> Vec<Remembered> {
        let users = self.users();
        let Some(entries) = users.get(user) else { return Vec::new() };
        let mut scores = vec![0; entries.len()];
        for word in words(query) {
            let has_word: Vec<_> =
                (0..entries.len()).filter(|index| entries[*index].words.contains(&word)).collect();
            for index in &has_word {
                scores[*index] += WEIGHT / has_word.len();
            }
        }
        let mut order: Vec<_> = (0..entries.len()).rev().collect();
        order.sort_by_key(|index| Reverse(scores[*index]));
        order.into_iter().take(limit).map(|index| entries[index].remembered.clone()).collect()
    }

    fn remove(&self, user: &str, which: &Forget) -> usize {
        let mut users = self.users();
        let Some(entries) = users.get_mut(user) else { return 0 };
        let before = entries.len();
        entries.retain(|entry| !which.is_of(&entry.remembered));
        let removed = before - entries.len();
        if entries.is_empty() {
            users.remove(user);
        }
        removed
    }
}

impl Memories for ProcessMemories {
    fn limits(&self) -> MemoryLimits {
        self.limits
    }

    fn add(&self, entries: Vec<Remembered>) -> MemoriesFuture<'_, Added> {
        Box::pin(ready(self.add_all(entries)))
    }

    fn search<'a>(
        &'a self,
        user: &'a str,
        query: &'a str,
        limit: usize,
    ) -> MemoriesFuture<'a, Vec<Remembered>> {
        Box::pin(ready(Ok(self.find(user, query, limit))))
    }

    fn list<'a>(&'a self, user: &'a str) -> MemoriesFuture<'a, Vec<Remembered>> {
        let users = self.users();
        let entries = users.get(user).into_iter().flatten();
        Box::pin(ready(Ok(entries.map(|entry| entry.remembered.clone()).collect())))
    }

    fn forget<'a>(&'a self, user: &'a str, which: Forget) -> MemoriesFuture<'a, u64> {
        Box::pin(ready(Ok(self.remove(user, &which) as u64)))
    }
}

impl fmt::Debug for ProcessMemories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessMemories").field("limits", &self.limits).finish_non_exhaustive()
    }
}
