//! Verdicts on the tool calls of an answer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use hooks_agent_core::call::{CallContext, RunId};
use hooks_agent_core::event::PreCall;
use hooks_agent_core::memory::ThreadValueError;

/// What was decided about a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Verdict {
    /// It is counted and may run.
    Allowed,
    /// It exceeds the limit.
    Blocked,
    /// Another tool call of the batch exceeds the limit.
    Stopped,
}

/// What was decided about the tool calls of the last answer of a thread. It outlives a call whose
/// tool calls wait, so that a tool call counts once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Batch {
    /// The run, because ids of tool calls are unique within one answer only.
    of: Option<RunId>,
    /// The verdicts on limited tool calls, by id.
    pub(super) verdicts: BTreeMap<String, Verdict>,
    /// The text that the run ends with.
    pub(super) ended: Option<String>,
}

impl Batch {
    /// Takes the batch over into a call that resumes its run, or discards it.
    pub(super) fn begin(name: &str, event: &PreCall<'_>) -> Result<(), ThreadValueError> {
        let cx = event.context();
        let resumes = event.resumes();
        cx.update_thread_value(name, |batch: &mut Option<Self>| match batch {
            Some(batch) if resumes => batch.of = Some(cx.run_id()),
            batch => *batch = None,
        })
    }

    /// Reads the batch of the run, if there is one.
    pub(super) fn read(name: &str, cx: &CallContext) -> Result<Option<Self>, ThreadValueError> {
        let batch = cx.thread_value::<Self>(name)?;
        Ok(batch.filter(|batch| batch.of == Some(cx.run_id())))
    }

    /// Changes the batch of the run while nobody else does.
    pub(super) fn update(
        name: &str,
        cx: &CallContext,
        change: impl FnOnce(&mut Self),
    ) -> Result<(), ThreadValueError> {
        cx.update_thread_value(name, |batch: &mut Option<Self>| {
            let batch = batch.get_or_insert_default();
            if batch.of != Some(cx.run_id()) {
                *batch = Self { of: Some(cx.run_id()), ..Self::default() };
            }
            change(batch);
        })
    }

    /// Returns what was decided about the tool call of this id: nothing, if it was added or changed
    /// since.
    pub(super) fn verdict(&self, id: &str, is_limited: bool) -> Option<Verdict> {
        let own = self.verdicts.get(id).copied().filter(|_| is_limited);
        if self.ended.is_some() && own != Some(Verdict::Blocked) {
            return Some(Verdict::Stopped);
        }
        own.or_else(|| (!is_limited).then_some(Verdict::Allowed))
    }
}
