//! Shares labels and settings between the clones of a guard, and traces tool calls by them.

use std::sync::Arc;

use hooks_agent_core::agent::Agent;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::message::{Msg, Note, ToolUse};

use crate::provenance::doubts::doubt::Doubt;
use crate::provenance::doubts::trace::Trace;
use crate::provenance::entered::sources::{OfCall, Sources, lock};
use crate::provenance::kept::call_digest;
use crate::provenance::labels::{Labels, Sink};
use crate::provenance::settings::Settings;
use crate::provenance::told::notes;

/// What clones share.
#[derive(Clone, Default)]
pub(crate) struct Shared {
    pub(crate) labels: Labels,
    pub(crate) settings: Settings,
    pub(crate) refuses: bool,
}

/// What was found of a tool call.
pub(crate) enum Traced {
    /// It may run; these are the addresses to which it goes.
    Fine(Vec<String>),
    Doubtful(String),
}

impl Shared {
    pub(crate) fn state(&self, cx: &CallContext) -> Arc<OfCall> {
        cx.hook_state(std::ptr::from_ref(self).addr())
    }

    pub(crate) fn sink_of(&self, agent: &dyn Agent, call: &ToolUse) -> Option<&Sink> {
        let effect = agent.find_tool(&call.name).map(|tool| tool.effect());
        self.labels.sink(&call.name, effect).filter(|_| call.invalid_input.is_none())
    }

    /// Returns what entered a call. If tool calls run already, what they return is left out.
    pub(crate) fn sources(
        &self,
        system: Option<&Arc<Msg>>,
        cx: &CallContext,
        runs: bool,
    ) -> Result<Arc<Sources>, String> {
        Sources::of(system, cx, runs, &self.labels, |cx| self.state(cx))
            .map_err(|error| format!("where its arguments came from is not known: {error}"))
    }

    /// Traces the tool call that starts, if it is another one than the one that may run.
    pub(crate) fn check(&self, cx: &CallContext, running: &ToolUse) -> Result<(), String> {
        let state = self.state(cx);
        let cleared = lock(&state.cleared).get(&running.id).cloned();
        if cleared.as_ref().is_some_and(|cleared| cleared.call == call_digest(running)) {
            return Ok(());
        }
        let Some(sink) = self.labels.sink(&running.name, None) else { return Ok(()) };
        let Some(sources) = cleared.and_then(|cleared| cleared.sources) else {
            return Err(format!(
                "`{}` changes something, and its arguments were not traced",
                running.name
            ));
        };
        match self.traced(&sources, sink, running) {
            Traced::Fine(_) => Ok(()),
            Traced::Doubtful(why) => Err(format!("nobody was asked about this call: {why}")),
        }
    }

    /// Says where the arguments of a tool call that waits came from.
    pub(crate) fn notes(
        &self,
        system: Option<&Arc<Msg>>,
        cx: &CallContext,
        call: &ToolUse,
    ) -> Vec<Note> {
        let other = Sink::default();
        let sink = self.labels.sink(&call.name, None).unwrap_or(&other);
        match Sources::of(system, cx, true, &self.labels, |cx| self.state(cx)) {
            Ok(sources) => notes(&sources, self.settings.max_read, sink, call),
            Err(error) => vec![Note::new("", format!("cannot be traced: {error}"))],
        }
    }

    pub(crate) fn traced(&self, sources: &Sources, sink: &Sink, call: &ToolUse) -> Traced {
        let trace = Trace::new(sources, &self.settings, sink, call);
        let doubts = trace.doubts();
        if doubts.is_empty() {
            Traced::Fine(trace.addresses())
        } else {
            Traced::Doubtful(reason(call, &doubts))
        }
    }
}

fn reason(call: &ToolUse, doubts: &[Doubt]) -> String {
    let doubts: Vec<_> = doubts.iter().map(ToString::to_string).collect();
    format!("`{}` changes something: {}", call.name, doubts.join("; "))
}
