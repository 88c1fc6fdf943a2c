//! The tape as a hook.

use std::sync::{Arc, Mutex, PoisonError};

use hooks_agent_core::agent_hook;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{PostCall, PreCall, PreReasoning, PreSummary, Settled};
use hooks_agent_core::hook::{HookRun, HookWatcher, ModelCall, NextModel, NextTool, ToolCall};
use hooks_agent_core::message::ToolResult;
use hooks_agent_core::model::ModelAnswer;
use hooks_agent_core::tool::ToolError;
use hooks_core::{BoxError, HookResult};

use crate::error::TapeError;
use crate::play::{Asked, Called};
use crate::player::stand_in;
use crate::runs::LiveRun;
use crate::tape::{Shared, Tape};

#[agent_hook(
    name = "Tape",
    // The innermost hook: requests are as the model gets them.
    priority = i32::MAX,
    inherit,
    always,
    watcher = |tape: &Self| Some(tape.0.clone())
)]
impl Tape {
    fn pre_call(&self, event: &PreCall<'_>) -> HookResult {
        self.noted(self.0.begin(event.context(), event.messages()))
    }

    fn pre_reasoning(&self, event: &PreReasoning<'_>) -> HookResult {
        self.noted(self.0.on_run(event.context(), LiveRun::begin_round))
    }

    fn pre_summary(&self, event: &PreSummary<'_>) -> HookResult {
        self.noted(self.0.on_run(event.context(), LiveRun::begin_round))
    }

    fn post_call(&self, event: &PostCall<'_>) -> HookResult {
        self.noted(self.0.keep_reply(event.context(), event.final_message()))
    }

    fn settled(&self, event: &Settled<'_>) -> HookResult {
        self.noted(self.0.end(event.context(), event.outcome()))
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let asked = self.0.ask(call.context(), call.model_name(), call.request());
        let take = match asked.map_err(|error| self.0.failed(error)) {
            Err(Some(error)) => return Err(next.fail(error)),
            Ok(Asked::Tape(model)) => {
                return Ok(ModelAnswer::ask(&*model, call.into_request()).await?);
            }
            Ok(Asked::Live) | Err(None) => return next.run(call.into_request()).await,
            Ok(Asked::Recorded(take)) => take,
        };
        match next.run(call.into_request()).await {
            Ok(answer) => {
                let provider = answer.provider().to_owned();
                Ok(answer.map_stream(|stream| take.pass_on(&provider, stream)))
            }
            Err(AgentError::Model(error)) => {
                take.fail(&error);
                Err(error.into())
            }
            Err(error) => {
                take.forget();
                Err(error)
            }
        }
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let called = self.0.call_tool(&call);
        let tool_use = call.into_tool_use();
        match called.map_err(|error| self.0.failed(error)) {
            Err(Some(error)) => Err(next.fail(error)),
            Ok(Called::Live) | Err(None) => next.run(tool_use).await,
            Ok(Called::Skipped(skip)) => {
                let called = tool_use.clone();
                let ended = next.run(tool_use).await;
                match self.0.skip(&skip, &called, &ended) {
                    Err(error) => Err(next.fail(error)),
                    Ok(()) => ended,
                }
            }
            Ok(Called::Recorded(take)) => {
                let ended = next.run(tool_use).await;
                take.end(&ended);
                ended
            }
            Ok(Called::Tape(played)) => {
                let (shared, failure) = (self.0.clone(), Arc::new(Mutex::new(None)));
                let failed = failure.clone();
                // The entry is taken when the tool would run: other hooks may refuse it before.
                let tool = stand_in(tool_use.name.as_str(), move |call| {
                    let answer = shared.play_tool(&played, call);
                    answer.inspect_err(|error| keep(&failed, error))
                });
                let ended = next.run_tool(tool_use, Arc::new(tool)).await;
                let failure = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
                match failure.and_then(|error| self.0.failed(error)) {
                    Some(error) => Err(next.fail(BoxError::from(error))),
                    None => ended,
                }
            }
        }
    }

    /// Returns the error of a call that is not noted.
    fn noted(&self, noted: Result<(), TapeError>) -> HookResult {
        match noted.map_err(|error| self.0.failed(error)) {
            Err(Some(error)) => Err(error.into()),
            Ok(()) | Err(None) => Ok(()),
        }
    }
}

fn keep(failure: &Mutex<Option<TapeError>>, error: &TapeError) {
    *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
}

impl HookWatcher for Shared {
    fn hook_ran(&self, run: &HookRun<'_>) {
        if let Err(error) = self.note_decision(run) {
            // A recording keeps it; a replay fails at the end.
            let _ = self.failed(error);
        }
    }
}
