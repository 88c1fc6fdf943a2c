//! The state and the numbers of one run.

use std::borrow::Cow;
use std::sync::Arc;

use hooks_agent_core::call::RunId;
use hooks_agent_core::message::{GenerateReason, Usage};
use serde::{Deserialize, Serialize};

use crate::entry::{Failure, RunHead};
use crate::prices::Money;

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunState {
    Running,
    Waiting,
    /// It waited, and another run went on with it.
    Resumed,
    Finished,
    Failed,
    Interrupted,
    Cancelled,
    Panicked,
}

impl RunState {
    pub(crate) const ALL: [Self; 8] = [
        Self::Running,
        Self::Waiting,
        Self::Resumed,
        Self::Finished,
        Self::Failed,
        Self::Interrupted,
        Self::Cancelled,
        Self::Panicked,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Resumed => "resumed",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Cancelled => "cancelled",
            Self::Panicked => "panicked",
        }
    }
}

/// A run, as the page lists it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunSummary {
    pub(crate) run: RunId,
    pub(crate) agent: Arc<str>,
    pub(crate) thread: Arc<str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<Arc<str>>,
    pub(crate) state: RunState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<GenerateReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resumed_by: Option<RunId>,
    /// The kind of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Cow<'static, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<Failure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<Arc<str>>,
    pub(crate) started: u64,
    /// The number of the last entry before it, which tells the order of runs of one millisecond.
    after: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_ms: Option<u64>,
    pub(crate) rounds: u64,
    pub(crate) retries: u64,
    pub(crate) tools: u64,
    pub(crate) tool_errors: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_read: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_created: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Money>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) models: Vec<ModelUse>,
    pub(crate) events: u64,
    pub(crate) dropped: u64,
}

/// What a run used of a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ModelUse {
    pub(crate) model: Arc<str>,
    pub(crate) calls: u64,
    pub(crate) failed: u64,
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<Money>,
}

impl RunSummary {
    pub(super) fn new(head: &RunHead, started: u64, after: u64) -> Self {
        let RunHead { run, agent, thread, user, parent, tool_call, tool } = head.clone();
        Self {
            run,
            agent,
            thread,
            user,
            parent,
            tool_call,
            tool,
            state: RunState::Running,
            reason: None,
            resumed_by: None,
            error: None,
            failure: None,
            title: None,
            started,
            after,
            ended: None,
            first_ms: None,
            rounds: 0,
            retries: 0,
            tools: 0,
            tool_errors: 0,
            input_tokens: None,
            output_tokens: None,
            cache_read: None,
            cache_created: None,
            cost: None,
            models: Vec::new(),
            events: 0,
            dropped: 0,
        }
    }

    /// Returns what the run is.
    pub(super) fn head(&self) -> RunHead {
        let Self { run, agent, thread, user, parent, tool_call, tool, .. } = self.clone();
        RunHead { run, agent, thread, user, parent, tool_call, tool }
    }

    /// Takes over how the run stands in its process. What the run is, and what is counted here, stays.
    pub(super) fn join(&mut self, there: Self) {
        let RunHead { run, agent, thread, user, parent, tool_call, tool } = self.head();
        let Self { started, after, events, dropped, .. } = *self;
        let is = Self { run, agent, thread, user, parent, tool_call, tool, ..there };
        *self = Self { started, after, events, dropped, ..is };
    }

    /// Sets the tokens, if a model reported any.
    pub(crate) fn set_usage(&mut self, usage: Usage) {
        if usage != Usage::default() {
            let is_cached = usage.cache_read_tokens + usage.cache_creation_tokens > 0;
            self.input_tokens = Some(usage.input_tokens);
            self.output_tokens = Some(usage.output_tokens);
            self.cache_read = is_cached.then_some(usage.cache_read_tokens);
            self.cache_created = is_cached.then_some(usage.cache_creation_tokens);
        }
    }

    /// Counts an attempt of a model that ended.
    pub(crate) fn add_attempt(
        &mut self,
        model: &Arc<str>,
        usage: Option<Usage>,
        cost: Option<Money>,
    ) {
        let place = self.models.iter().position(|it| it.model == *model).unwrap_or_else(|| {
            let model = model.clone();
            self.models.push(ModelUse {
                model,
                calls: 0,
                failed: 0,
                input: 0,
                output: 0,
                cache_read: 0,
                cost: None,
            });
            self.models.len() - 1
        });
        let of_model = &mut self.models[place];
        of_model.calls += 1;
        if let Some(cost) = cost {
            of_model.cost.get_or_insert_default().add(cost);
            self.cost.get_or_insert_default().add(cost);
        }
        match usage {
            Some(usage) => {
                of_model.input += usage.input_tokens;
                of_model.output += usage.output_tokens;
                of_model.cache_read += usage.cache_read_tokens;
            }
            None => of_model.failed += 1,
        }
    }

    /// About how many bytes it takes.
    pub(super) fn cost(&self) -> usize {
        let title = self.title.as_ref().map_or(0, |title| title.len());
        768 + self.agent.len() + self.thread.len() + title
    }
}
