//! The head, the state and the summary of a run.

use std::collections::VecDeque;
use std::sync::Arc;

use hooks_agent_core::call::{CallContext, RunId};
use hooks_agent_core::message::{GenerateReason, Usage};
use serde::Serialize;

use crate::ring::kept::Kept;

/// What a run is, from its beginning.
#[derive(Clone, Debug)]
pub(crate) struct RunHead {
    pub(crate) run: RunId,
    pub(crate) agent: Arc<str>,
    pub(crate) thread: Arc<str>,
    pub(crate) user: Option<Arc<str>>,
    pub(crate) parent: Option<RunId>,
    pub(crate) tool_call: Option<Arc<str>>,
}

impl RunHead {
    pub(crate) fn of(cx: &CallContext) -> Self {
        Self {
            run: cx.run_id(),
            agent: cx.agent_name().into(),
            thread: cx.thread_id().into(),
            user: cx.user().map(Into::into),
            parent: cx.parent().map(CallContext::run_id),
            tool_call: cx.tool_call_id().map(Into::into),
        }
    }
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunState {
    Running,
    Waiting,
    Finished,
    Failed,
    Interrupted,
    Cancelled,
    Panicked,
}

impl RunState {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Cancelled => "cancelled",
            Self::Panicked => "panicked",
        }
    }
}

/// A run, as the page lists it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RunSummary {
    pub(crate) run: RunId,
    pub(crate) agent: Arc<str>,
    pub(super) thread: Arc<str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call: Option<Arc<str>>,
    pub(crate) state: RunState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<GenerateReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<Arc<str>>,
    started: u64,
    /// The number of the last entry before it, which tells the order of runs of one millisecond.
    after: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<u64>,
    pub(crate) rounds: u64,
    pub(crate) tools: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    pub(super) events: u64,
    pub(super) dropped: u64,
}

impl RunSummary {
    pub(super) fn new(head: &RunHead, started: u64, after: u64) -> Self {
        let RunHead { run, agent, thread, user, parent, tool_call } = head.clone();
        Self {
            run,
            agent,
            thread,
            user,
            parent,
            tool_call,
            state: RunState::Running,
            reason: None,
            error: None,
            title: None,
            started,
            after,
            ended: None,
            rounds: 0,
            tools: 0,
            input_tokens: None,
            output_tokens: None,
            events: 0,
            dropped: 0,
        }
    }

    pub(super) fn head(&self) -> RunHead {
        let Self { run, agent, thread, user, parent, tool_call, .. } = self.clone();
        RunHead { run, agent, thread, user, parent, tool_call }
    }

    /// Sets the tokens, if a model reported any.
    pub(crate) fn set_usage(&mut self, usage: Usage) {
        if usage != Usage::default() {
            self.input_tokens = Some(usage.input_tokens);
            self.output_tokens = Some(usage.output_tokens);
        }
    }
}

/// A run of the ring.
pub(super) struct Record {
    pub(super) summary: RunSummary,
    /// Its entries with their numbers, which rise.
    pub(super) entries: VecDeque<(u64, Kept)>,
    /// The context of the call, while it runs.
    /// The number of the hook that writes of it.
    pub(super) writer: Option<u64>,
    pub(super) cx: Option<CallContext>,
}

impl Record {
    /// Gives up the first entry.
    pub(super) fn drop_first(&mut self) -> Option<(u64, Kept)> {
        let first = self.entries.pop_front()?;
        self.summary.dropped += 1;
        Some(first)
    }

    /// Returns the entry of this number, if it is still there.
    pub(super) fn entry_mut(&mut self, seq: u64) -> Option<&mut Kept> {
        let place = self.entries.binary_search_by_key(&seq, |(seq, _)| *seq).ok()?;
        self.entries.get_mut(place).map(|(_, kept)| kept)
    }

    /// Returns the entries after this number.
    pub(super) fn after(&self, seq: u64) -> impl Iterator<Item = &(u64, Kept)> {
        let seen = self.entries.partition_point(|(it, _)| *it <= seq);
        self.entries.range(seen..)
    }

    /// What a run takes beside its entries.
    pub(super) fn cost(&self) -> usize {
        let summary = &self.summary;
        let title = summary.title.as_ref().map_or(0, |title| title.len());
        512 + summary.agent.len() + summary.thread.len() + title
    }
}
