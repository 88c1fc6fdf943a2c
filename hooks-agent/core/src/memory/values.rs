//! The values that hooks keep with a thread.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use crate::memory::value::{Slot, ThreadValue};

/// Why a value of a thread cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadValueError {
    /// The stored value has another type.
    #[error("the thread value `{name}` is not what is read")]
    Read {
        /// The name of the value.
        name: String,
        /// What does not fit.
        source: serde_json::Error,
    },
    /// The value cannot be written as JSON.
    #[error("the thread value `{name}` cannot be written as JSON")]
    Write {
        /// The name of the value.
        name: String,
        /// What does not fit.
        source: serde_json::Error,
    },
    /// The agent keeps no threads.
    #[error(
        "agent `{agent}` has no memory to keep the thread value `{name}`: implement `Agent::memory_of`"
    )]
    NoMemory {
        /// The name of the agent.
        agent: String,
        /// The name of the value.
        name: String,
    },
}

/// The values that hooks keep with a thread, by name, of any [`ThreadValue`] type. A hook in a call uses
/// [`CallContext::thread_value`](crate::call::CallContext::thread_value) and its siblings; this is for
/// programs, and for hooks that look into several threads.
///
/// ```
/// use hooks_agent::memory::Memory;
///
/// let memory = Memory::new();
/// let values = memory.thread_values();
/// values.set("visits", 1.into());
/// values.update("visits", |visits: &mut Option<u32>| *visits.get_or_insert(0) += 1)?;
/// assert_eq!(values.get::<u32>("visits")?, Some(2));
/// values.remove("visits");
/// assert!(!values.has("visits"));
/// # Ok::<(), hooks_agent::memory::ThreadValueError>(())
/// ```
#[derive(Debug, Default)]
pub struct ThreadValues(Mutex<Option<Box<Kept>>>);

#[derive(Debug, Default)]
struct Kept {
    values: BTreeMap<String, Slot>,
    /// The names of values that differ from those in the store, if the thread is in one. All values have
    /// their JSON then.
    changed: Option<BTreeSet<String>>,
}

impl ThreadValues {
    /// Returns a value.
    ///
    /// # Errors
    /// [`ThreadValueError::Read`] if the value has another type.
    pub fn get<T: ThreadValue>(&self, name: &str) -> Result<Option<T>, ThreadValueError> {
        match self.lock().as_mut() {
            Some(kept) => kept.get(name),
            None => Ok(None),
        }
    }

    /// Changes a value while no other change of the thread's values happens. Without a value
    /// afterwards, removes it. If `update` panics, the value is as it was.
    ///
    /// # Errors
    /// [`ThreadValueError::Read`] if the value has another type, [`ThreadValueError::Write`] if it cannot be
    /// written as JSON. The value is then as it was.
    pub fn update<T: ThreadValue, R>(
        &self,
        name: &str,
        update: impl FnOnce(&mut Option<T>) -> R,
    ) -> Result<R, ThreadValueError> {
        let mut kept = self.lock();
        let mut value = kept.as_mut().map(|kept| kept.get(name)).transpose()?.flatten();
        let updated = update(&mut value);
        match value {
            Some(value) => kept.get_or_insert_default().set(name, value)?,
            None => {
                if let Some(kept) = kept.as_mut() {
                    kept.remove(name);
                }
            }
        }
        Ok(updated)
    }

    /// Returns whether there is a value of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.lock().as_ref().is_some_and(|kept| kept.values.contains_key(name))
    }

    /// Removes a value.
    pub fn remove(&self, name: &str) {
        if let Some(kept) = self.lock().as_mut() {
            kept.remove(name);
        }
    }

    /// Sets a value.
    pub fn set(&self, name: &str, value: Value) {
        self.lock().get_or_insert_default().set_json(name, value);
    }

    pub(crate) fn all(&self) -> Map<String, Value> {
        self.lock().as_mut().map(|kept| kept.json()).unwrap_or_default()
    }

    pub(crate) fn replace(&self, values: Map<String, Value>) {
        let mut kept = self.lock();
        let before = kept.take().map(|kept| *kept).unwrap_or_default();
        let changed = before.changed.map(|mut changed| {
            changed.extend(before.values.into_keys());
            changed.extend(values.keys().cloned());
            changed
        });
        if !values.is_empty() || changed.is_some() {
            *kept = Some(Box::new(Kept { values: slots(values), changed }));
        }
    }

    /// Replaces the values by those of the store.
    pub(super) fn restore(&self, values: Map<String, Value>) {
        *self.lock() =
            Some(Box::new(Kept { values: slots(values), changed: Some(BTreeSet::new()) }));
    }

    /// Removes everything.
    pub(super) fn forget(&self) {
        *self.lock() = None;
    }

    /// Notes that the store has none of the values.
    pub(super) fn track(&self) {
        let mut kept = self.lock();
        let kept = kept.get_or_insert_default();
        kept.changed = Some(kept.json().into_iter().map(|(name, _)| name).collect());
    }

    /// Returns the values that differ from those in the store; `None` is one that was removed.
    pub(super) fn changed(&self) -> Vec<(String, Option<Value>)> {
        let mut kept = self.lock();
        let Some(Kept { values, changed: Some(changed) }) = kept.as_deref_mut() else {
            return Vec::new();
        };
        let json = |slot: &mut Slot| slot.json().ok().cloned();
        changed.iter().map(|name| (name.clone(), values.get_mut(name).and_then(json))).collect()
    }

    /// Notes that the store has these values.
    pub(super) fn committed(&self, written: &[(String, Option<Value>)]) {
        let mut kept = self.lock();
        let Some(Kept { values, changed: Some(changed) }) = kept.as_deref_mut() else { return };
        for (name, value) in written {
            let now = values.get_mut(name).and_then(|slot| slot.json().ok());
            if now == value.as_ref() {
                changed.remove(name);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<Kept>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn get<T: ThreadValue>(&mut self, name: &str) -> Result<Option<T>, ThreadValueError> {
        let read = |source| ThreadValueError::Read { name: name.to_owned(), source };
        self.values.get_mut(name).map(|slot| slot.get().map_err(read)).transpose()
    }

    /// Sets a value; one that is as before is not a change.
    fn set<T: ThreadValue>(&mut self, name: &str, value: T) -> Result<(), ThreadValueError> {
        let write = |source| ThreadValueError::Write { name: name.to_owned(), source };
        let needs_json = self.changed.is_some();
        let is_other = match self.values.get_mut(name) {
            Some(slot) => slot.set(value, needs_json).map_err(write)?,
            None => {
                let slot = Slot::of(value, needs_json).map_err(write)?;
                self.values.insert(name.to_owned(), slot);
                true
            }
        };
        if is_other && let Some(changed) = &mut self.changed {
            changed.insert(name.to_owned());
        }
        Ok(())
    }

    fn set_json(&mut self, name: &str, value: Value) {
        if let Some(changed) = &mut self.changed {
            let before = self.values.get_mut(name).and_then(|slot| slot.json().ok());
            if before == Some(&value) {
                return;
            }
            changed.insert(name.to_owned());
        }
        self.values.insert(name.to_owned(), Slot::of_json(value));
    }

    fn remove(&mut self, name: &str) {
        let removed = self.values.remove(name);
        if let Some(changed) = self.changed.as_mut().filter(|_| removed.is_some()) {
            changed.insert(name.to_owned());
        }
    }

    /// Returns all values as JSON, without those that have none, which are reported.
    fn json(&mut self) -> Map<String, Value> {
        let json = |(name, slot): (&String, &mut Slot)| match slot.json() {
            Ok(value) => Some((name.clone(), value.clone())),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(
                    target: "hooks_agent::memory",
                    name, error, "a thread value cannot be written as JSON"
                );
                None
            }
        };
        self.values.iter_mut().filter_map(json).collect()
    }
}

fn slots(values: Map<String, Value>) -> BTreeMap<String, Slot> {
    values.into_iter().map(|(name, value)| (name, Slot::of_json(value))).collect()
}
