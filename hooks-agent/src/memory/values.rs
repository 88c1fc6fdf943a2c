//! The values that hooks keep with a thread.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

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

/// Values by name, as JSON.
#[derive(Debug, Default)]
pub(crate) struct ThreadValues(Mutex<Option<Box<Map<String, Value>>>>);

impl ThreadValues {
    pub(crate) fn get<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<T>, ThreadValueError> {
        let values = self.lock();
        values
            .as_ref()
            .and_then(|values| values.get(name))
            .map(|value| read(name, value))
            .transpose()
    }

    /// Changes a value while no other change of the thread's values happens. Without a value
    /// afterwards, removes it. Does not write a value that is as before.
    pub(crate) fn update<T: Serialize + DeserializeOwned, R>(
        &self,
        name: &str,
        update: impl FnOnce(&mut Option<T>) -> R,
    ) -> Result<R, ThreadValueError> {
        let mut values = self.lock();
        let stored = values.as_ref().and_then(|values| values.get(name));
        let mut value = stored.map(|value| read(name, value)).transpose()?;
        let updated = update(&mut value);
        match value {
            Some(value) => {
                let written = serde_json::to_value(value)
                    .map_err(|source| ThreadValueError::Write { name: name.to_owned(), source })?;
                let values = values.get_or_insert_default();
                match values.get_mut(name) {
                    Some(value) => *value = written,
                    None => drop(values.insert(name.to_owned(), written)),
                }
            }
            None => drop(values.as_mut().and_then(|values| values.remove(name))),
        }
        Ok(updated)
    }

    pub(crate) fn set(&self, name: &str, value: Value) {
        self.lock().get_or_insert_default().insert(name.to_owned(), value);
    }

    pub(crate) fn all(&self) -> Map<String, Value> {
        self.lock().as_deref().cloned().unwrap_or_default()
    }

    pub(crate) fn replace(&self, values: Map<String, Value>) {
        *self.lock() = (!values.is_empty()).then(|| Box::new(values));
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<Map<String, Value>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read<T: DeserializeOwned>(name: &str, value: &Value) -> Result<T, ThreadValueError> {
    T::deserialize(value).map_err(|source| ThreadValueError::Read { name: name.to_owned(), source })
}
