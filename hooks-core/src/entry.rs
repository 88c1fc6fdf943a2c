//! A registered hook.

use std::sync::Arc;

use crate::options::{Hook, Limits, OnFailure, When};
use crate::registry::Source;
use crate::slot::HookSlot;

/// A hook and what it was registered with.
pub(crate) struct Entry<P: HookSlot> {
    pub(crate) name: Arc<str>,
    pub(crate) priority: i32,
    pub(crate) source: Source,
    pub(crate) limits: Option<Arc<Limits<P>>>,
    pub(crate) hook: P::Hook,
}

impl<P: HookSlot> Entry<P> {
    pub(crate) fn new<F, W, L>(options: Hook<F, W, L>, source: Source, hook: P::Hook) -> Self
    where
        F: OnFailure<P>,
        W: When<P>,
    {
        let source = options.location().map_or(source, Source::from);
        let (name, priority, limits) = options.into_parts();
        Self { name, priority, source, limits, hook }
    }

    /// Gives the entry limits of its own, so that what it counts is not shared.
    pub(crate) fn part(&mut self) {
        self.limits = self.limits.as_ref().map(|limits| Arc::new(limits.parted()));
    }

    /// Whether an around hook runs in this call; of a hook that runs once, this is the run.
    pub(crate) fn applies(&self, agent: &P::Agent, args: &P::Args) -> bool {
        self.limits.as_ref().is_none_or(|limits| limits.applies(agent, args))
    }

    /// Whether the hook was to run once and has.
    pub(crate) fn is_spent(&self) -> bool {
        self.limits.as_ref().is_some_and(|limits| limits.is_spent())
    }
}

impl<P: HookSlot> Clone for Entry<P> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            priority: self.priority,
            source: self.source,
            limits: self.limits.clone(),
            hook: self.hook.clone(),
        }
    }
}
