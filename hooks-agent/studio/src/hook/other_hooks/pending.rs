//! Runs of other hooks at events that the studio's hook has not seen yet.

use std::sync::Arc;

use crate::entry::HookRun;
use crate::hook::other_hooks::changes::{Ran, Showing};

/// Runs of other hooks at events that the studio's hook has not seen yet, in order.
#[derive(Default)]
pub(crate) struct Pending(Vec<At>);

/// The runs at one event.
struct At {
    event: &'static str,
    tool_call: Option<Arc<str>>,
    runs: Vec<Ran>,
}

impl Pending {
    /// Adds a run.
    pub(crate) fn add(&mut self, ran: Ran) {
        let found = self.0.iter_mut().find(|at| at.is(ran.event, ran.tool_call.as_deref()));
        match found {
            Some(at) => at.runs.push(ran),
            None => {
                let (event, tool_call) = (ran.event, ran.tool_call.clone());
                self.0.push(At { event, tool_call, runs: vec![ran] });
            }
        }
    }

    /// Returns whether runs wait at this event.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn has(&self, event: &str, tool_call: Option<&str>) -> bool {
        self.0.iter().any(|at| at.is(event, tool_call))
    }

    /// Takes the runs at events that are over when the hook sees this event. Those of this very event
    /// come with `end`, what the event holds now; of the others nobody saw the end.
    pub(crate) fn take(
        &mut self,
        event: &'static str,
        tool_call: Option<&str>,
        end: &Showing<'_>,
    ) -> Vec<HookRun> {
        let (over, left) = std::mem::take(&mut self.0).into_iter().partition(|at: &At| {
            let is_of_same_call = at.tool_call.as_deref() == tool_call;
            at.is(event, tool_call)
                || is_of_same_call
                || tool_call.is_none()
                || at.tool_call.is_none()
        });
        self.0 = left;
        let mut entries = Vec::new();
        for at in over {
            let seen = at.is(event, tool_call);
            let unseen = end.unseen();
            entries.extend(Ran::write(at.runs, if seen { end } else { &unseen }));
        }
        entries
    }

    /// Takes the runs at an event whose end nobody sees.
    pub(crate) fn take_at(
        &mut self,
        event: &str,
        tool_call: Option<&str>,
        end: &Showing<'_>,
    ) -> Vec<HookRun> {
        let Some(place) = self.0.iter().position(|at| at.is(event, tool_call)) else {
            return Vec::new();
        };
        Ran::write(self.0.remove(place).runs, end)
    }
}

impl At {
    fn is(&self, event: &str, tool_call: Option<&str>) -> bool {
        self.event == event && self.tool_call.as_deref() == tool_call
    }
}
