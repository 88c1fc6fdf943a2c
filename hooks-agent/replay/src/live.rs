//! Records the calls that run: their beginning, the decisions of hooks, their end.

use std::sync::Arc;

use hooks_agent_core::agent::CallOutcome;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::EventKind;
use hooks_agent_core::hook::{HookFlow, HookRun};
use hooks_agent_core::message::{Messages, Msg};
use hooks_core::HookRole;
use serde_json::Value;

use crate::drift::Decided;
use crate::error::TapeError;
use crate::recorder::{CallStart, decision_line, end_line};
use crate::runs::{At, Lane, LiveRun};
use crate::settle::{Ended, compare};
use crate::tape::Shared;
use crate::text::reply_value;

impl Shared {
    /// Returns whether the lines of a call are new on the tape.
    pub(super) fn writes(&self, at: &At) -> bool {
        self.recorder.is_some() && at.recorded.is_none()
    }

    /// Notes something of a call, which begins if it has not.
    pub(super) fn on_run<T>(
        &self,
        cx: &CallContext,
        note: impl FnOnce(&mut LiveRun) -> T,
    ) -> Result<T, TapeError> {
        self.on_state(cx, |_, run| note(run))
    }

    fn on_state<T>(
        &self,
        cx: &CallContext,
        note: impl FnOnce(&Self, &mut LiveRun) -> T,
    ) -> Result<T, TapeError> {
        let id = cx.run_id();
        let mut state = self.state();
        if state.runs.get(id).is_none() {
            drop(state);
            let thread = self.redactor.thread(cx.thread_id())?;
            let lane = Lane { agent: cx.agent_name().to_owned(), thread };
            state = self.state();
            let parent = cx.parent().and_then(|parent| state.runs.get(parent.run_id()));
            let below = parent.map(|parent| parent.at.recorded).zip(cx.tool_call_id());
            let pair = |lane: &Lane, number| match below {
                None => self.player.as_ref()?.pair(lane, number),
                Some((parent, id)) => self.player.as_ref()?.pair_below(lane, parent?, id),
            };
            if state.runs.get(id).is_none() {
                let scope = cx.thread_id();
                let is_root = below.is_none();
                state.runs.begin(id, lane, scope, is_root, pair, self.recorder.is_some());
            }
        }
        Ok(note(self, state.runs.get(id).expect("it has begun")))
    }

    /// Begins a call with its messages.
    pub(super) fn begin(&self, cx: &CallContext, messages: &Messages) -> Result<(), TapeError> {
        let at = self.on_run(cx, |run| run.at.clone())?;
        let messages = self.redactor.value(&at.scope, serde_json::to_value(messages)?)?;
        // They are checked after the hooks at the beginning of a call.
        let confirmed = cx.confirms().map(|id| self.redactor.text(&at.scope, id));
        let confirmed = confirmed.collect::<Result<_, _>>()?;
        self.write_call(cx, Some((messages, confirmed)))
    }

    /// Writes the first line of a call, and what hooks did before it.
    pub(super) fn write_call(
        &self,
        cx: &CallContext,
        messages: Option<(Value, Vec<String>)>,
    ) -> Result<(), TapeError> {
        let Some(recorder) = &self.recorder else { return Ok(()) };
        let parent = cx.parent().and_then(|parent| {
            let mut state = self.state();
            state.runs.get(parent.run_id()).map(|run| run.at.run.clone())
        });
        let tool_call = match cx.tool_call_id() {
            Some(id) => Some(self.redactor.text(cx.thread_id(), id)?),
            None => None,
        };
        self.on_run(cx, |run| {
            if run.has_line || !self.writes(&run.at) {
                return;
            }
            run.has_line = true;
            let Lane { agent, thread } = &*run.at.lane;
            let (messages, confirmed) = messages.unzip();
            let start = CallStart {
                run: &run.at.run,
                agent,
                thread,
                parent: parent.as_deref(),
                tool_call: tool_call.as_deref(),
                messages,
                confirmed: confirmed.unwrap_or_default(),
            };
            recorder.write(&run.at, Ok(start.line()));
            for decision in &run.decisions {
                recorder.write(&run.at, Ok(decision_line(&run.at.run, decision)));
            }
        })
    }

    /// Keeps the reply of a call.
    pub(super) fn keep_reply(&self, cx: &CallContext, reply: &Msg) -> Result<(), TapeError> {
        let scope: Arc<str> = self.on_run(cx, |run| run.at.scope.clone())?;
        let reply = reply_value(&self.redactor, &scope, reply)?;
        self.on_run(cx, |run| run.reply = Some(reply))
    }

    /// Notes what another hook did. What a hook that redacts removed is not on the tape, so that in a
    /// replay it may find nothing: that it changed something is not noted.
    pub(super) fn note_decision(&self, run: &HookRun<'_>) -> Result<(), TapeError> {
        let goes_on = run.flow() == HookFlow::Continue;
        let is_redaction = run.role() == Some(HookRole::Redacts);
        // What a hook in shadow would have decided is no part of the run.
        if run.is_shadow()
            || run.event() == EventKind::Settled.name()
            || goes_on && (is_redaction || !run.has_changed())
        {
            return Ok(());
        }
        let cx = run.context();
        let text = |text: &str| self.redactor.text(cx.thread_id(), text);
        let changed = if is_redaction {
            Vec::new()
        } else {
            run.changes().iter().map(|it| text(&it.path)).collect::<Result<_, _>>()?
        };
        let decided = Decided {
            hook: run.hook().to_owned(),
            event: run.event().to_owned(),
            tool_call: run.tool_call_id().map(text).transpose()?,
            flow: run.flow().to_string(),
            changed,
        };
        self.on_run(cx, |run| {
            if let Some(recorder) =
                self.recorder.as_ref().filter(|_| run.has_line && self.writes(&run.at))
            {
                recorder.write(&run.at, Ok(decision_line(&run.at.run, &decided)));
            }
            run.decisions.push(decided);
        })
    }

    /// Ends a call.
    pub(super) fn end(&self, cx: &CallContext, outcome: &CallOutcome) -> Result<(), TapeError> {
        self.write_call(cx, None)?;
        let ended = self.ended(cx, outcome)?;
        let run = self.state().runs.end(cx.run_id());
        let Some(run) = run else { return Ok(()) };
        if let Some(recorder) = self.recorder.as_ref().filter(|_| run.has_line) {
            let error = ended.error.as_deref();
            let line = end_line(&run.at.run, ended.outcome, error, run.reply.clone());
            recorder.write(&run.at, Ok(line));
        }
        if let Some(player) = &self.player {
            let recorded = run.at.recorded;
            let found = compare(player, run, &ended)?;
            let mut state = self.state();
            state.outcomes.extend(recorded.map(|recorded| (recorded, ended.outcome)));
            state.found.extend(found);
        }
        Ok(())
    }

    fn ended(&self, cx: &CallContext, outcome: &CallOutcome) -> Result<Ended, TapeError> {
        let redact = |error: &Arc<str>| self.redactor.text(cx.thread_id(), error);
        Ok(Ended { outcome: outcome.name(), error: outcome.error().map(redact).transpose()? })
    }
}
