//! Hooks of one hook type on one level, in the order in which they run.

use std::fmt;
use std::sync::Arc;

use crate::hook::entry::Entry;
use crate::hook::options::group::HookGroup;
use crate::hook_type::Phase;
use crate::point::call_mode::Position;
use crate::point::hook_slot::HookSlot;
use crate::registry::table::Row;

/// How many hooks a chunk holds. Nearly every list is one chunk.
const CHUNK: usize = 64;

/// Hooks by priority, then by registration.
///
/// A change copies one chunk and shares the others, so that many registrations cost little each.
pub struct List<P: HookSlot> {
    chunks: Vec<Arc<Vec<Entry<P>>>>,
}

impl<P: HookSlot> List<P> {
    /// The hooks of each chunk; none is empty.
    #[inline]
    pub(crate) fn chunks(&self) -> &[Arc<Vec<Entry<P>>>] {
        &self.chunks
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry<P>> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// The hook at a position or, where its chunk ends there, at the start of the next chunk.
    pub(crate) fn seek(&self, at: &mut Position) -> Option<&Entry<P>> {
        while let Some(chunk) = self.chunks.get(at.chunk as usize) {
            if let Some(entry) = chunk.get(at.index as usize) {
                return Some(entry);
            }
            *at = Position { chunk: at.chunk + 1, index: 0, ..*at };
        }
        None
    }

    /// Adds a hook. One of the same name and priority is replaced where it stands.
    pub(crate) fn insert(&mut self, entry: Entry<P>) {
        let named = |known: &Entry<P>| known.name == entry.name && known.group == entry.group;
        let found = self.chunks.iter().enumerate().find_map(|(chunk, entries)| {
            entries.iter().position(named).map(|index| (chunk, index))
        });
        match found {
            Some((chunk, index)) if self.chunks[chunk][index].priority == entry.priority => {
                Arc::make_mut(&mut self.chunks[chunk])[index] = entry;
            }
            Some(_) => {
                self.retain(|known| !named(known));
                self.append(entry);
            }
            None => self.append(entry),
        }
    }

    /// Adds a hook behind those of its priority, whatever its name.
    pub(crate) fn append(&mut self, entry: Entry<P>) {
        let is_before = |known: &Entry<P>| known.priority <= entry.priority;
        let behind = self.chunks.partition_point(|chunk| chunk.first().is_some_and(is_before));
        let chunk = behind.saturating_sub(1);
        let Some(entries) = self.chunks.get_mut(chunk) else {
            self.chunks.push(Arc::new(vec![entry]));
            return;
        };
        let index = entries.partition_point(is_before);
        if entries.len() < CHUNK {
            Arc::make_mut(entries).insert(index, entry);
        } else if index == CHUNK {
            self.chunks.insert(chunk + 1, Arc::new(vec![entry]));
        } else {
            let rest = Arc::make_mut(entries).split_off(CHUNK / 2);
            self.chunks.insert(chunk + 1, Arc::new(rest));
            self.append(entry);
        }
    }

    /// Takes out every hook of that name that is in no group; says whether there was one.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        self.retain(|entry| entry.group.is_some() || &*entry.name != name)
    }

    /// Keeps the hooks that pass the test; says whether some did not.
    fn retain(&mut self, keep: impl Fn(&Entry<P>) -> bool) -> bool {
        let mut removed = false;
        for chunk in &mut self.chunks {
            if !chunk.iter().all(&keep) {
                Arc::make_mut(chunk).retain(&keep);
                removed = true;
            }
        }
        self.chunks.retain(|chunk| !chunk.is_empty());
        removed
    }
}

impl<P: HookSlot> Default for List<P> {
    fn default() -> Self {
        Self { chunks: Vec::new() }
    }
}

impl<P: HookSlot> Clone for List<P> {
    fn clone(&self) -> Self {
        Self { chunks: self.chunks.clone() }
    }
}

impl<P: HookSlot> fmt::Debug for List<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|entry| &entry.name)).finish()
    }
}

/// What can be done with a list of any type.
pub(crate) trait ErasedList {
    fn phase(&self) -> Phase;
    fn is_empty(&self) -> bool;
    /// Whether a hook waits or has limits.
    fn waits(&self) -> bool;
    /// Whether a hook has limits.
    fn is_limited(&self) -> bool;
    /// Whether a hook runs once.
    fn runs_once(&self) -> bool;
    /// How deep nested calls may go, by the hooks that run in them too.
    fn max_depth(&self) -> Option<usize>;
    /// The hooks that will run again.
    fn rows(&self) -> Vec<Row>;
    fn remove(&mut self, name: &str) -> bool;
    /// Takes out the hooks of a group; says how many there were.
    fn remove_group(&mut self, group: HookGroup) -> usize;
    fn remove_spent(&mut self);
    fn part(&mut self);
    fn clear(&mut self);
}

impl<P: HookSlot> ErasedList for List<P> {
    fn phase(&self) -> Phase {
        P::PHASE
    }

    fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    fn is_limited(&self) -> bool {
        self.iter().any(|entry| entry.limits.is_some())
    }

    fn runs_once(&self) -> bool {
        self.iter().any(Entry::runs_once)
    }

    fn waits(&self) -> bool {
        self.iter().any(|entry| entry.limits.is_some() || P::waits(&entry.hook))
    }

    fn max_depth(&self) -> Option<usize> {
        self.iter().filter_map(|entry| entry.max_depth).min()
    }

    fn rows(&self) -> Vec<Row> {
        self.iter().filter(|entry| !entry.is_spent()).map(Entry::row).collect()
    }

    fn remove(&mut self, name: &str) -> bool {
        self.remove(name)
    }

    fn remove_group(&mut self, group: HookGroup) -> usize {
        let is_in = |entry: &Entry<P>| entry.group == Some(group);
        let count = self.iter().filter(|entry| is_in(entry)).count();
        if count > 0 {
            self.retain(|entry| !is_in(entry));
        }
        count
    }

    fn remove_spent(&mut self) {
        self.retain(|entry| !entry.is_spent());
    }

    fn part(&mut self) {
        for chunk in &mut self.chunks {
            Arc::make_mut(chunk).iter_mut().for_each(Entry::part);
        }
    }

    fn clear(&mut self) {
        self.chunks.clear();
    }
}
