//! The orders of hooks that were judged.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use hooks_agent_core::agent::Agent;
use hooks_core::Hookable;
use hooks_core::plan::HooksVersion;

use crate::hook::order::{NAME, Order};

/// How many orders are kept.
const MOST: usize = 16;

/// The orders of hooks that were judged last: a plan costs more than a short call.
#[derive(Default)]
pub(super) struct Orders(Mutex<VecDeque<(Arc<str>, HooksVersion, Order)>>);

impl Orders {
    /// Returns the order of the hooks of an agent in this version.
    pub(super) fn of(&self, agent: &dyn Agent, version: HooksVersion) -> Order {
        let is_same =
            |(id, of, _): &&(Arc<str>, HooksVersion, Order)| *of == version && **id == *agent.id();
        let known = self.lock().iter().find(is_same).map(|(_, _, order)| *order);
        known.unwrap_or_else(|| {
            let order = Order::of(&Hookable::hook_plan(agent), NAME);
            let mut orders = self.lock();
            orders.truncate(MOST - 1);
            orders.push_front((agent.id().into(), version, order));
            order
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<(Arc<str>, HooksVersion, Order)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
