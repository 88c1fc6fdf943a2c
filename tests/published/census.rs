//! Counts the calls of every agent of a program that links this crate.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use hooks_agent::prelude::*;

/// Returns how many calls of agents of this name have ended.
#[must_use]
pub fn calls_of(agent: &str) -> usize {
    calls().get(agent).copied().unwrap_or(0)
}

#[derive(Default)]
struct Census;

#[agent_hook(class = dyn Agent, name = "census", priority = priority::METRICS)]
impl Census {
    fn count(&self, event: &mut Settled<'_>) {
        *calls().entry(event.agent().name().to_owned()).or_default() += 1;
    }
}

fn calls() -> MutexGuard<'static, HashMap<String, usize>> {
    static CALLS: LazyLock<Mutex<HashMap<String, usize>>> = LazyLock::new(Mutex::default);
    CALLS.lock().unwrap_or_else(PoisonError::into_inner)
}
