//! A registered hook and its limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::hook::options::group::HookGroup;
use crate::hook::options::role::HookRole;
use crate::hook_type::{HookType, Level};
use crate::point::hook_slot::HookSlot;
use crate::registry::hooks::Hooks;
use crate::registry::table::{Row, Source};

/// How a hook that sees the arguments after the body has them copied before it; `None` if it does
/// not see them.
pub(crate) type KeepArgs<P> = Option<fn(&<P as HookSlot>::Args) -> <P as HookSlot>::Args>;

/// A hook and what it was registered with.
pub(crate) struct Entry<P: HookSlot> {
    pub(crate) name: Arc<str>,
    pub(crate) group: Option<HookGroup>,
    pub(crate) priority: i32,
    pub(crate) role: Option<HookRole>,
    pub(crate) may_answer: bool,
    pub(crate) warnings: Arc<[String]>,
    pub(crate) source: Source,
    /// Of a hook that runs in nested calls too: how deep.
    pub(crate) max_depth: Option<usize>,
    pub(crate) limits: Option<Arc<Limits<P>>>,
    pub(crate) hook: P::Hook,
}

impl<P: HookSlot> Entry<P> {
    pub(crate) fn hook_type() -> HookType {
        HookType::new(P::PHASE, P::METHOD)
    }

    pub(crate) fn row(&self) -> Row {
        let (name, hook_type) = (self.name.clone(), Self::hook_type());
        Row {
            hook_type,
            name,
            group: self.group,
            priority: self.priority,
            role: self.role,
            may_answer: self.may_answer,
            warnings: self.warnings.clone(),
            is_always: self.max_depth.is_some(),
            source: self.source.clone(),
        }
    }

    /// Gives the entry limits of its own, so that what it counts is not shared.
    pub(crate) fn part(&mut self) {
        self.limits = self.limits.as_ref().map(|limits| Arc::new(limits.parted()));
    }

    /// Whether the hook runs in this call; of a hook that runs once, this is the run.
    pub(crate) fn applies(&self, agent: &P::Agent, args: &P::Args) -> bool {
        self.limits.as_ref().is_none_or(|limits| limits.applies(agent, args))
    }

    /// Whether the hook runs once.
    pub(crate) fn runs_once(&self) -> bool {
        self.limits.as_ref().is_some_and(|limits| limits.fired.is_some())
    }

    /// Whether the hook was to run once and has.
    pub(crate) fn is_spent(&self) -> bool {
        self.limits.as_ref().is_some_and(|limits| limits.is_spent())
    }

    /// Takes a hook that was to run once, and has, out of its registry.
    pub(crate) fn remove_if_spent(&self, level: Level, hooks: &Hooks) {
        if let Some(limits) = self.limits.as_ref().filter(|limits| limits.is_spent())
            && let Some(remove) = limits.remove_spent
        {
            remove(level, hooks);
        }
    }

    /// Whether failures of the hook are reported and otherwise ignored.
    pub(crate) fn is_failure_ignored(&self) -> bool {
        self.limits.as_ref().is_some_and(|limits| limits.undo.is_some())
    }
}

impl<P: HookSlot> Clone for Entry<P> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            group: self.group,
            priority: self.priority,
            role: self.role,
            may_answer: self.may_answer,
            warnings: self.warnings.clone(),
            source: self.source.clone(),
            max_depth: self.max_depth,
            limits: self.limits.clone(),
            hook: self.hook.clone(),
        }
    }
}

/// The limits of a hook; most have none.
pub(crate) struct Limits<P: HookSlot> {
    pub(crate) timeout: Option<Duration>,
    /// Of a hook that runs once: whether it has.
    pub(crate) fired: Option<AtomicBool>,
    /// Of a hook that runs once: how it is taken out of its registry.
    pub(crate) remove_spent: Option<fn(Level, &Hooks)>,
    /// Copies what a failing hook must give back.
    pub(crate) undo: Undo<P>,
    pub(crate) when: Option<Arc<Predicate<P>>>,
}

pub(crate) type Undo<P> = Option<fn(&<P as HookSlot>::Subject) -> <P as HookSlot>::Subject>;
pub(crate) type Predicate<P> =
    dyn Fn(&<P as HookSlot>::Agent, &<P as HookSlot>::Args) -> bool + Send + Sync;

impl<P: HookSlot> Limits<P> {
    /// Whether the hook runs in this call; of a hook that runs once, this is the run.
    pub(crate) fn applies(&self, agent: &P::Agent, args: &P::Args) -> bool {
        self.when.as_ref().is_none_or(|when| when(agent, args)) && self.fire()
    }

    /// The same limits, counting for themselves from here on.
    pub(crate) fn parted(&self) -> Self {
        let fired = self.fired.as_ref().map(|fired| fired.load(Ordering::Acquire).into());
        let (undo, when) = (self.undo, self.when.clone());
        Self { timeout: self.timeout, fired, remove_spent: self.remove_spent, undo, when }
    }

    /// Takes the one run of a hook that runs once.
    pub(crate) fn fire(&self) -> bool {
        self.fired.as_ref().is_none_or(|fired| !fired.swap(true, Ordering::AcqRel))
    }

    /// Whether the hook has had its one run.
    pub(crate) fn is_spent(&self) -> bool {
        self.fired.as_ref().is_some_and(|fired| fired.load(Ordering::Acquire))
    }
}
