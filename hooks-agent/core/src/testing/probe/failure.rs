//! The event of a failure, and the errors that it has in a call.

use std::sync::Arc;

use hooks_core::{BoxError, HookError, Hookable};

use crate::agent::Agent;
use crate::error::{AgentError, InputError};
use crate::event::{ErrorPhase, EventKind, HookEvent};
use crate::hook::AgentHook;
use crate::message::Messages;
use crate::model::ModelError;
use crate::round::{ActingInput, ReasoningInput, SummaryInput};
use crate::testing::probe::MODEL;
use crate::testing::probe::call::{NotInterested, Probe};
use crate::testing::probe::watch::replace_body;
use crate::testing::seen::Seen;
use crate::tool::ToolError;

impl<H: AgentHook> Probe<H> {
    /// Runs the hook for a failure in this phase; the data of the event is the text of the error.
    ///
    /// As in a call, the hook receives an [`AgentError`], or a [`ToolError`] at
    /// [`ErrorPhase::Acting`]. Other errors become the variant that holds them.
    ///
    /// # Errors
    /// [`NotInterested`] if the hook does not receive the event.
    pub async fn error(
        &self,
        phase: ErrorPhase<'_>,
        error: impl Into<BoxError>,
    ) -> Result<Seen<String>, NotInterested> {
        let error = error.into();
        let watch = self.watch(EventKind::Error, |event| match event {
            HookEvent::Error(event) => Some(event.error().to_string()),
            _ => None,
        })?;
        let (agent, cx) = (&watch.agent, watch.cx.clone());
        match phase {
            ErrorPhase::Call => {
                replace_body!(agent, AROUND_REPLY, Err(agent_error(error)));
                let _ = agent.reply(cx, Messages::new()).await;
            }
            ErrorPhase::Reasoning => {
                replace_body!(agent, AROUND_REASONING, Err(agent_error(error)));
                let _ = agent.reasoning(cx, ReasoningInput::new(MODEL, Messages::new())).await;
            }
            ErrorPhase::Acting(call) => match tool_error(error) {
                Ok(error) => {
                    replace_body!(agent, AROUND_TOOL_CALL, Err(error));
                    let _ = agent.tool_call(cx, Arc::new(call.clone())).await;
                }
                Err(error) => {
                    replace_body!(agent, AROUND_ACTING, Err(error));
                    let _ = agent.acting(cx, ActingInput::new(call.clone())).await;
                }
            },
            ErrorPhase::Summary => {
                replace_body!(agent, AROUND_SUMMARIZING, Err(agent_error(error)));
                let _ = agent.summarizing(cx, SummaryInput::new(MODEL, Messages::new())).await;
            }
        }
        Ok(watch.seen(Ok(())))
    }
}

/// Returns the error of a call that holds this one.
fn agent_error(error: BoxError) -> AgentError {
    let error = match error.downcast::<AgentError>() {
        Ok(error) => return *error,
        Err(error) => error,
    };
    let error = match error.downcast::<ModelError>() {
        Ok(error) => return (*error).into(),
        Err(error) => error,
    };
    let error = match error.downcast::<InputError>() {
        Ok(error) => return (*error).into(),
        Err(error) => error,
    };
    match error.downcast::<HookError>() {
        Ok(error) => (*error).into(),
        Err(error) => AgentError::Other(error),
    }
}

/// Returns the error of a tool, or the error of a tool call that is none of its tool.
fn tool_error(error: BoxError) -> Result<ToolError, AgentError> {
    match error.downcast::<ToolError>() {
        Ok(error) => match *error {
            ToolError::Hook(error) => Err(error.into()),
            ToolError::Store(error) => Err(error.into()),
            ToolError::Recorded(report) => Err(AgentError::Recorded(report)),
            ToolError::Interrupted => Err(AgentError::Interrupted),
            ToolError::ShutDown { agent } => Err(AgentError::ShutDown { agent }),
            waiting @ (ToolError::Waiting { .. } | ToolError::Asks { .. }) => {
                Err(AgentError::other(waiting))
            }
            error => Ok(error),
        },
        Err(error) if error.is::<AgentError>() || error.is::<HookError>() => {
            Err(agent_error(error))
        }
        Err(error) => Ok(ToolError::Failed(error)),
    }
}
