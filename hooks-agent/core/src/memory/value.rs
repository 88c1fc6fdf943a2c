//! One value of a thread: as its type while the process has it, as JSON where it is written.

use std::any::Any;
use std::fmt;
use std::io::sink;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The types of the values that hooks keep with a thread: what can be written as JSON and read again,
/// and cloned. Implemented for all such types; derive `Serialize`, `Deserialize` and `Clone`.
///
/// The process keeps a value as it is, so that a hook that counts pays for no JSON. It becomes JSON where
/// it leaves the process, or is read as another type: what serde skips does not come back from there. An
/// integer of more than 64 bits has no JSON: keep it as a text.
pub trait ThreadValue: Serialize + DeserializeOwned + Clone + Send + 'static {}

impl<T: Serialize + DeserializeOwned + Clone + Send + 'static> ThreadValue for T {}

/// A value, as its type, as JSON, or as both.
pub(super) struct Slot {
    typed: Option<Box<dyn Typed>>,
    json: Option<Value>,
}

trait Typed: Any + Send {
    fn to_json(&self) -> Result<Value, serde_json::Error>;
}

impl<T: Serialize + Any + Send> Typed for T {
    fn to_json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }
}

impl Slot {
    pub(super) fn of_json(json: Value) -> Self {
        Self { typed: None, json: Some(json) }
    }

    /// Creates the slot of a value that can be written as JSON; with its JSON, if that is needed.
    pub(super) fn of<T: ThreadValue>(
        value: T,
        needs_json: bool,
    ) -> Result<Self, serde_json::Error> {
        let json = written(&value, needs_json)?;
        Ok(Self { typed: Some(Box::new(value)), json })
    }

    /// Replaces the value by one of the same type without a new place for it, if it can be written as
    /// JSON. Returns whether its JSON is another one; so is every value without JSON.
    pub(super) fn set<T: ThreadValue>(
        &mut self,
        value: T,
        needs_json: bool,
    ) -> Result<bool, serde_json::Error> {
        let json = written(&value, needs_json)?;
        match self.typed_mut::<T>() {
            Some(typed) => *typed = value,
            None => self.typed = Some(Box::new(value)),
        }
        let is_other = json.is_none() || json != self.json;
        self.json = json;
        Ok(is_other)
    }

    /// Returns the value, if it is of this type.
    pub(super) fn get<T: ThreadValue>(&mut self) -> Result<T, serde_json::Error> {
        if let Some(typed) = self.typed_mut::<T>() {
            return Ok(typed.clone());
        }
        let value = match &self.json {
            Some(json) => T::deserialize(json)?,
            None => T::deserialize(self.json()?)?,
        };
        if self.typed.is_none() {
            self.typed = Some(Box::new(value.clone()));
        }
        Ok(value)
    }

    /// Returns the value as JSON, which it keeps from now on.
    pub(super) fn json(&mut self) -> Result<&Value, serde_json::Error> {
        if let (None, Some(typed)) = (&self.json, &self.typed) {
            self.json = Some(typed.to_json()?);
        }
        Ok(self.json.get_or_insert_default())
    }

    fn typed_mut<T: 'static>(&mut self) -> Option<&mut T> {
        let typed: &mut dyn Any = &mut **self.typed.as_mut()?;
        typed.downcast_mut()
    }
}

/// Returns the JSON of a value if it is needed; otherwise checks that there is one.
fn written<T: Serialize>(value: &T, needs_json: bool) -> Result<Option<Value>, serde_json::Error> {
    if needs_json {
        return serde_json::to_value(value).map(Some);
    }
    serde_json::to_writer(sink(), value).map(|()| None)
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.json, &self.typed) {
            (None, Some(typed)) => fmt::Debug::fmt(&typed.to_json().ok(), f),
            (json, _) => fmt::Debug::fmt(json, f),
        }
    }
}
