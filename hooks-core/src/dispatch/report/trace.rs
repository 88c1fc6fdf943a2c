//! Spans and events for `tracing`: a span per hooked call, an event per hook that ran.
//!
//! Both are off unless a subscriber asks for them, and then cost a test of the level per phase.

use std::any::type_name;
use std::time::Instant;

use tracing::{Level as Verbosity, Span};

use crate::hook::entry::Entry;
use crate::hook_type::{HookType, Level};
use crate::point::hook_point::HookPoint;
use crate::point::hook_slot::HookSlot;
use crate::registry::list::Lists;
use crate::registry::type_name::short_name;

/// Whether someone may want to see each hook that runs. Asking for more than the level makes filters of
/// subscribers answer for an event that then does not come.
#[inline]
pub(crate) fn is_on() -> bool {
    tracing::level_enabled!(Verbosity::TRACE)
}

/// The span of a call, if someone wants to see it. Boxed: most calls have none, and are smaller so.
#[inline]
pub(crate) fn span<A: ?Sized + HookPoint<Args>, Args>() -> Option<Box<Span>> {
    if tracing::level_enabled!(Verbosity::DEBUG) {
        new_span(type_name::<A>(), A::METHOD)
    } else {
        None
    }
}

// Not generic, here and below: each method of each agent would have a copy.
#[cold]
fn new_span(agent: &'static str, method: &'static str) -> Option<Box<Span>> {
    let span = tracing::debug_span!("hooked_call", agent = short_name(agent), method);
    (!span.is_disabled()).then(|| Box::new(span))
}

/// The run of a hook that someone wants to see.
pub(crate) struct Watch {
    start: Option<Instant>,
}

impl Watch {
    /// Starts the watch, if someone looks.
    #[inline]
    pub(crate) fn start() -> Self {
        Self { start: is_on().then(Instant::now) }
    }

    /// Whether someone looks.
    pub(crate) fn is_on(&self) -> bool {
        self.start.is_some()
    }

    /// Says what came of the hook.
    #[inline]
    pub(crate) fn stop<P: HookSlot>(self, level: Level, entry: &Entry<P>, outcome: &str) {
        if let Some(start) = self.start {
            report(start, level, &entry.registration.name, &entry.registration.hook_type, outcome);
        }
    }
}

#[cold]
fn report(start: Instant, level: Level, hook: &str, hook_type: &HookType, outcome: &str) {
    let duration = start.elapsed();
    tracing::trace!(hook, %hook_type, %level, ?duration, outcome, "a hook ran");
}

/// Says which hooks a nested call does not run, if someone wants to know.
pub(crate) fn skipped(agent: &'static str, method: &'static str, lists: [Option<&Lists>; 4]) {
    if tracing::level_enabled!(Verbosity::DEBUG) {
        let names: Vec<_> = lists.into_iter().flatten().flat_map(Lists::skipped).collect();
        report_skipped(agent, method, &names);
    }
}

#[cold]
fn report_skipped(agent: &'static str, method: &'static str, names: &[String]) {
    let (agent, hooks) = (short_name(agent), names.join(", "));
    tracing::debug!(agent, method, hooks, "a nested call skips hooks");
}
