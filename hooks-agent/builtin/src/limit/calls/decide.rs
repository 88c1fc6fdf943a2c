//! Which tool calls run, and when the call ends.

use std::collections::{BTreeMap, HashSet};

use hooks_core::HookResult;

use crate::limit::calls::batch::{Batch, Verdict};
use crate::limit::calls::counts::Counts;
use crate::limit::calls::error::ToolCallLimitExceeded;
use crate::limit::calls::limit_style::LimitStyle;
use crate::limit::calls::tool_calls::ToolCallLimit;
use crate::limit::exit::Exit;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::{Flow, PostReasoning, PreActing};
use hooks_agent_core::memory::ThreadValueError;
use hooks_agent_core::message::{Msg, ToolUse};

/// What the model reads of a tool call that another one of its batch stopped.
const STOPPED: &str = "Execution stopped before this tool call could run because another tool call in \
                       the same batch exceeded the limit.";

impl ToolCallLimit {
    fn limits(&self, call: &ToolUse) -> bool {
        self.tool.as_ref().is_none_or(|tool| *tool == call.name)
    }

    /// Counts this many tool calls and returns how many of them may run, or why they end the call.
    fn reserve(
        &self,
        cx: &CallContext,
        count: u64,
    ) -> Result<(u64, Option<ToolCallLimitExceeded>), ThreadValueError> {
        self.counter.update(cx, |counts| {
            let before = *counts;
            let allowed = count.min(self.limits.room(before));
            counts.run = counts.run.saturating_add(count);
            let is_over = allowed < count;
            // Those that end the call keep the whole batch from running.
            if !is_over || self.exit == Exit::Continue {
                counts.thread = counts.thread.saturating_add(allowed);
            }
            let tried = before.thread.saturating_add(count);
            let over = is_over.then(|| self.exceeded(Counts { thread: tried, ..*counts }));
            (allowed, over)
        })
    }

    fn exceeded(&self, counts: Counts) -> ToolCallLimitExceeded {
        ToolCallLimitExceeded {
            tool: self.tool.clone(),
            thread_count: counts.thread,
            thread_limit: self.limits.thread,
            run_count: counts.run,
            run_limit: self.limits.run,
            is_at_model_call: self.style == LimitStyle::NextModelCall,
        }
    }

    /// Decides about the tool calls of an answer.
    pub(super) fn decide(&self, event: &PostReasoning<'_>) -> HookResult<Flow> {
        let (cx, message) = (event.context(), event.message());
        if message.tool_uses().next().is_none() {
            return Ok(Flow::Continue);
        }
        let calls = self.limited_ids(message);
        let count = calls.len() as u64;
        if self.style == LimitStyle::NextModelCall {
            self.counter.update(cx, |counts| {
                counts.thread = counts.thread.saturating_add(count);
                counts.run = counts.run.saturating_add(count);
            })?;
            return Ok(Flow::Continue);
        }
        let (allowed, over) = if count == 0 { (0, None) } else { self.reserve(cx, count)? };
        let ended = match (self.exit, over) {
            (Exit::Error, Some(exceeded)) => return Err(exceeded.into()),
            (Exit::End, Some(exceeded)) => Some(self.reply_text(&exceeded)),
            _ => None,
        };
        let verdicts: BTreeMap<_, _> = calls
            .into_iter()
            .zip(0..)
            .map(|(id, number)| {
                (id, if number < allowed { Verdict::Allowed } else { Verdict::Blocked })
            })
            .collect();
        Batch::update(&self.batch_name(cx), cx, |batch| {
            (batch.verdicts, batch.ended) = (verdicts, ended);
        })?;
        Ok(Flow::Continue)
    }

    /// Returns the ids of the limited tool calls. Where the agent has to make ids unique, tool
    /// calls are decided when their turn comes.
    fn limited_ids(&self, message: &Msg) -> Vec<String> {
        let mut seen = HashSet::new();
        let calls = message
            .tool_uses()
            .filter(|call| seen.insert(&call.id) && !call.id.is_empty() && !call.id.contains('/'));
        calls.filter(|call| self.limits(call)).map(|call| call.id.clone()).collect()
    }

    /// Returns what was decided about a tool call. Decides it now, if it was added or changed
    /// since.
    pub(super) fn verdict(&self, cx: &CallContext, call: &ToolUse) -> HookResult<Verdict> {
        let (name, is_limited) = (self.batch_name(cx), self.limits(call));
        if !is_limited && self.exit != Exit::End {
            return Ok(Verdict::Allowed);
        }
        let batch = Batch::read(&name, cx)?.unwrap_or_default();
        if let Some(verdict) = batch.verdict(&call.id, is_limited) {
            return Ok(verdict);
        }
        let (_, over) = self.reserve(cx, 1)?;
        let verdict = if over.is_some() { Verdict::Blocked } else { Verdict::Allowed };
        let ended = match (self.exit, over) {
            (Exit::Error, Some(exceeded)) => return Err(exceeded.into()),
            (Exit::End, Some(exceeded)) => Some(self.reply_text(&exceeded)),
            _ => None,
        };
        Batch::update(&name, cx, |batch| {
            batch.verdicts.insert(call.id.clone(), verdict);
            batch.ended = batch.ended.take().or(ended);
        })?;
        Ok(verdict)
    }

    /// Returns what the model reads in place of a result, if the tool call may not run.
    pub(super) fn refusal(&self, verdict: Verdict) -> Option<String> {
        match (verdict, &self.tool) {
            (Verdict::Allowed, _) => None,
            (Verdict::Stopped, _) => Some(STOPPED.to_owned()),
            (Verdict::Blocked, Some(tool)) => {
                Some(format!("Tool call limit exceeded. Do not call '{tool}' again."))
            }
            (Verdict::Blocked, None) => {
                Some("Tool call limit exceeded. Do not make additional tool calls.".to_owned())
            }
        }
    }

    pub(super) fn act(&self, event: &PreActing<'_>) -> HookResult<Flow> {
        let verdict = self.verdict(event.context(), event.tool_use())?;
        Ok(self.refusal(verdict).map_or(Flow::Continue, |reason| event.refuse(reason)))
    }

    /// Returns the text that the call ends with before the next model call, if it does.
    pub(super) fn end(&self, cx: &CallContext) -> HookResult<Option<String>> {
        if self.style == LimitStyle::BeforeExecution {
            return Ok(Batch::read(&self.batch_name(cx), cx)?.and_then(|batch| batch.ended));
        }
        let counts = self.counter.update(cx, |counts| *counts)?;
        if self.limits.room(counts) > 0 {
            return Ok(None);
        }
        let exceeded = self.exceeded(counts);
        if self.exit == Exit::Error {
            return Err(exceeded.into());
        }
        Ok(Some(self.reply_text(&exceeded)))
    }

    /// Returns the text that a call ends with.
    fn reply_text(&self, exceeded: &ToolCallLimitExceeded) -> String {
        self.text.clone().unwrap_or_else(|| exceeded.to_string())
    }
}
