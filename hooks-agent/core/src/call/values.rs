//! Values of a call of any type, one of each type.

use std::any::{Any, TypeId};
use std::sync::Arc;

use crate::call::context::CallContext;

/// Values of any type, one of each type. They are few, so a vector is enough.
#[derive(Clone, Default)]
pub(super) struct Values(Vec<(TypeId, Arc<dyn Any + Send + Sync>)>);

impl Values {
    pub(super) fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let (_, value) = self.0.iter().find(|(key, _)| *key == TypeId::of::<T>())?;
        value.clone().downcast().ok()
    }

    /// Returns those of which there is none in others.
    pub(super) fn without_keys_of(&self, others: &Self) -> Self {
        let is_in = |key: TypeId| others.0.iter().any(|(own, _)| *own == key);
        Self(self.0.iter().filter(|(key, _)| !is_in(*key)).cloned().collect())
    }

    /// Returns those that are not the same in `before`.
    pub(super) fn changes_since(&self, before: &Self) -> Self {
        let is_same = |one: &(TypeId, Arc<dyn Any + Send + Sync>), (key, value): &(TypeId, _)| {
            one.0 == *key && Arc::ptr_eq(&one.1, value)
        };
        let changed = self.0.iter().filter(|own| !before.0.iter().any(|other| is_same(own, other)));
        Self(changed.cloned().collect())
    }

    /// Returns these values with others in their place where there are.
    pub(super) fn with(mut self, others: &Self) -> Self {
        for (key, value) in &others.0 {
            self.set(*key, value.clone());
        }
        self
    }

    fn set(&mut self, key: TypeId, value: Arc<dyn Any + Send + Sync>) {
        self.0.retain(|(own, _)| *own != key);
        self.0.push((key, value));
    }

    /// Stores a value and returns the previous one of its type.
    pub(super) fn insert<T: Any + Send + Sync>(&mut self, value: T) -> Option<Arc<T>> {
        let old = self.remove();
        self.0.push((TypeId::of::<T>(), Arc::new(value)));
        old
    }

    pub(super) fn remove<T: Any + Send + Sync>(&mut self) -> Option<Arc<T>> {
        let index = self.0.iter().position(|(key, _)| *key == TypeId::of::<T>())?;
        self.0.swap_remove(index).1.downcast().ok()
    }
}

impl CallContext {
    /// Returns the value of this type, from this call or else from the call that it is part of.
    #[must_use]
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let own = self.state().values.get();
        own.or_else(|| self.parent().and_then(Self::get))
    }

    /// Stores a value for the rest of this call and returns the previous value of this type.
    pub fn insert<T: Any + Send + Sync>(&self, value: T) -> Option<Arc<T>> {
        self.state().values.insert(value)
    }

    /// Removes the value of this type from this call and returns it.
    #[must_use]
    pub fn remove<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.state().values.remove()
    }
}
