//! The hooks that the files of one policy may use.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use hooks_agent_core::options::{Factory, RegisteredHook};

use crate::policy::file::HookTable;

/// The hooks by name.
pub(crate) struct Registry {
    hooks: BTreeMap<String, Box<dyn Factory>>,
    /// The names that are registered twice.
    twice: Vec<String>,
}

impl Registry {
    /// Creates a registry of the hooks that the linker collected.
    pub(crate) fn linked() -> Self {
        let mut registry = Self { hooks: BTreeMap::new(), twice: Vec::new() };
        for hook in inventory::iter::<RegisteredHook> {
            registry.add(hook.uses(), hook.factory());
        }
        registry
    }

    /// Adds a hook. A name that is there stays what it is, and is noted.
    pub(crate) fn add(&mut self, name: impl Into<String>, factory: Box<dyn Factory>) {
        match self.hooks.entry(name.into()) {
            Entry::Occupied(taken) => self.twice.push(taken.key().clone()),
            Entry::Vacant(free) => {
                free.insert(factory);
            }
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&dyn Factory> {
        self.hooks.get(name).map(|factory| &**factory)
    }

    /// Returns the names that a `[[hook]]` may use. Rules and quotas have tables of their own.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.hooks.keys().map(String::as_str).filter(|name| HookTable::array_of(name).is_none())
    }

    pub(crate) fn twice(&self) -> &[String] {
        &self.twice
    }
}
