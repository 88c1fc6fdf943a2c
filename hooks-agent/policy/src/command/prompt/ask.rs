//! A checked question.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::hook::{HookModel, HookModelError};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::command::prompt::question::question;

/// What the question is called in traces.
const PURPOSE: &str = "command hook";

/// A question that can be asked.
#[derive(Clone)]
pub(crate) struct Prompt {
    text: String,
    model: HookModel,
}

/// Why a model did not answer. No text is of the event or of the provider.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PromptError {
    #[error("there is no tokio runtime to ask the model on")]
    NoRuntime,
    #[error("the model did not answer within {0:?}")]
    TimedOut(Duration),
    #[error("the model panicked")]
    Panicked,
    #[error("the call was interrupted")]
    Interrupted,
    #[error("the answer of the model is not complete")]
    Incomplete,
    #[error("the model calls a tool instead of answering")]
    CallsTool,
    #[error("the model failed")]
    Failed,
}

impl Prompt {
    /// Checks the text. The error has the field that is wrong.
    pub(crate) fn new(
        text: &str,
        model: Option<&HookModel>,
    ) -> Result<Self, Vec<(&'static str, String)>> {
        if text.trim().is_empty() {
            let expected = "expected a question, as in `Does this delete files? $ARGUMENTS`";
            return Err(vec![("prompt", expected.to_owned())]);
        }
        let Some(model) = model.cloned() else {
            let missing = "the program gave no model, call `model(..)` of the builder";
            return Err(vec![("prompt", missing.to_owned())]);
        };
        Ok(Self { text: text.to_owned(), model })
    }

    /// Asks the model about an event, within the limit, and returns the text of its answer. Dropping the
    /// future cancels the request.
    ///
    /// # Panics
    /// If the runtime has no time.
    pub(crate) async fn run(
        &self,
        cx: &CallContext,
        event: &str,
        limit: Duration,
    ) -> Result<String, PromptError> {
        Handle::try_current().map_err(|_| PromptError::NoRuntime)?;
        let asking = self.model.ask(cx, PURPOSE, question(&self.text, event));
        let asked = timeout(limit, AssertUnwindSafe(asking).catch_unwind()).await;
        let answer = asked.map_err(|_| PromptError::TimedOut(limit))?;
        let answer = answer.map_err(|_| PromptError::Panicked)?.map_err(|error| match error {
            HookModelError::Interrupted => PromptError::Interrupted,
            HookModelError::Timeout { limit, .. } => PromptError::TimedOut(limit),
            HookModelError::Incomplete { .. } | HookModelError::TooLong { .. } => {
                PromptError::Incomplete
            }
            _ => PromptError::Failed,
        })?;
        if answer.tool_uses().next().is_some() {
            return Err(PromptError::CallsTool);
        }
        Ok(answer.text())
    }
}
