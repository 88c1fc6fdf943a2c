//! The values of labels, of which there are only so many.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The value of a label instead of further values.
pub(super) const OTHER: &str = "other";

/// How many tools of agents are remembered, for each value of a label.
const OFFERED: usize = 10;

/// The values that labels have taken.
///
/// A value that was returned stays, so that it is known by its address.
pub(super) struct Names {
    most: usize,
    other: Arc<str>,
    agents: Mutex<BTreeSet<Arc<str>>>,
    models: Mutex<BTreeSet<Arc<str>>>,
    hooks: Mutex<BTreeSet<Arc<str>>>,
    tools: Mutex<BTreeSet<Arc<str>>>,
    /// The tools that models were offered, so that a name that a model made up is none of them.
    offered: Mutex<BTreeSet<Arc<str>>>,
}

impl Names {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            other: OTHER.into(),
            agents: Mutex::default(),
            models: Mutex::default(),
            hooks: Mutex::default(),
            tools: Mutex::default(),
            offered: Mutex::default(),
        }
    }

    pub(super) fn most(&self) -> usize {
        self.most
    }

    pub(super) fn agent(&self, name: &str) -> Arc<str> {
        self.value(&self.agents, name)
    }

    pub(super) fn model(&self, name: &str) -> Arc<str> {
        self.value(&self.models, name)
    }

    pub(super) fn hook(&self, name: &str) -> Arc<str> {
        self.value(&self.hooks, name)
    }

    /// Returns the value for a tool, which exists if it ran or was offered.
    pub(super) fn tool(&self, name: &str, has_run: bool) -> Arc<str> {
        let is_offered = || {
            let offered = self.offered.lock().unwrap_or_else(PoisonError::into_inner);
            offered.contains(name)
        };
        if has_run || is_offered() { self.value(&self.tools, name) } else { self.other.clone() }
    }

    pub(super) fn offer<'a>(&self, tools: impl Iterator<Item = &'a str>) {
        let mut offered = self.offered.lock().unwrap_or_else(PoisonError::into_inner);
        for tool in tools {
            if !offered.contains(tool) && offered.len() < self.most.saturating_mul(OFFERED) {
                offered.insert(tool.into());
            }
        }
    }

    fn value(&self, taken: &Mutex<BTreeSet<Arc<str>>>, name: &str) -> Arc<str> {
        let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = taken.get(name) {
            return name.clone();
        }
        if taken.len() >= self.most {
            return self.other.clone();
        }
        let name = Arc::<str>::from(name);
        taken.insert(name.clone());
        name
    }
}
