//! The report of an error.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::report::causes::Causes;
use crate::report::kind::ErrorKind;

/// The report of an error: its kind, its text, the texts of its causes, and whether it is
/// transient.
///
/// The errors themselves hold errors of any type, so they cannot be stored. A report can: a program
/// that records the steps of a call stores the report of a step that failed, and makes the error
/// again from it when it repeats the call:
///
/// | report of | made again by | it is |
/// |---|---|---|
/// | a model's error | `AgentError::from` | the same error |
/// | an interrupt | `AgentError::from`, `ToolError::from` | the same error |
/// | another [`AgentError`] | `AgentError::from` | [`AgentError::Recorded`] |
/// | [`ToolError::Failed`] | `ToolError::from` | `Failed`, with the report as its error |
/// | [`ToolError::Hook`] | `ToolError::from` | [`ToolError::Recorded`] |
/// | another [`ToolError`] | `ToolError::from` | the same error |
///
/// In each case the text, the texts of the sources, the kind and the transience are the same, and
/// the agent treats both alike. The types of the causes are lost, and with them
/// [`failed_hook`](crate::event::ErrorEvent::failed_hook).
///
/// [`AgentError`]: crate::error::AgentError
/// [`AgentError::Recorded`]: crate::error::AgentError::Recorded
/// [`ToolError`]: crate::tool::ToolError
/// [`ToolError::Failed`]: crate::tool::ToolError::Failed
/// [`ToolError::Hook`]: crate::tool::ToolError::Hook
/// [`ToolError::Recorded`]: crate::tool::ToolError::Recorded
///
/// In JSON, it is an object of `kind`, `message`, `causes` (absent if there are none),
/// `is_transient`, and `original` (the fields of an error that can be made again as it was). It has
/// what the error prints, and for a tool that [waits](crate::tool::ToolError::Waiting) the tool
/// calls that wait.
///
/// A hook that records a failed model call, and one that answers from the record:
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use hooks_agent::error::ErrorReport;
/// use hooks_agent::model::ModelError;
/// use hooks_agent::prelude::*;
///
/// struct Record(Arc<Mutex<String>>);
///
/// #[agent_hook]
/// impl Record {
///     async fn run(
///         &self,
///         call: ModelCall<'_>,
///         next: NextModel<'_>,
///     ) -> Result<ModelAnswer, AgentError> {
///         let answer = next.run(call.into_request()).await;
///         if let Err(error) = &answer {
///             *self.0.lock().unwrap() = serde_json::to_string(&error.report()).unwrap();
///         }
///         answer
///     }
/// }
///
/// struct Replay(String);
///
/// #[agent_hook]
/// impl Replay {
///     async fn run(&self, _: ModelCall<'_>, next: NextModel<'_>) -> Result<ModelAnswer, AgentError> {
///         let report: ErrorReport = serde_json::from_str(&self.0).map_err(|e| next.fail(e))?;
///         Err(report.into())
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let journal = Arc::<Mutex<String>>::default();
/// let busy = || ScriptedModel::new("busy", |_| ModelError::status("busy", 503));
/// let first = ReActAgent::builder("bot").model(busy()).hook(Record(journal.clone())).build()?;
/// let failed = first.call("Are you there?").await.unwrap_err();
///
/// let recorded = journal.lock().unwrap().clone();
/// let second = ReActAgent::builder("bot").model(busy()).hook(Replay(recorded)).build()?;
/// let again = second.call("Are you there?").await.unwrap_err();
/// assert_eq!(again.to_string(), failed.to_string());
/// assert!(again.is_transient() && failed.is_transient());
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorReport {
    kind: ErrorKind,
    message: String,
    #[serde(default, skip_serializing_if = "is_empty")]
    causes: Causes,
    is_transient: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    original: Option<Box<Value>>,
}

impl ErrorReport {
    pub(crate) fn new(
        kind: ErrorKind,
        error: &(dyn Error + 'static),
        is_transient: bool,
        original: Option<Value>,
    ) -> Self {
        let (message, causes) = (error.to_string(), Causes::of(error));
        Self { kind, message, causes, is_transient, original: original.map(Box::new) }
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the text of the error.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the texts of the causes of the error, that of the direct one first, at most 32.
    pub fn causes(&self) -> impl Iterator<Item = &str> {
        self.causes.texts()
    }

    /// Returns whether the error is transient:
    /// [`AgentError::is_transient`](crate::error::AgentError::is_transient).
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.is_transient
    }

    /// Returns what the error was made of, if it can be made again.
    pub(crate) fn original(&self) -> Option<&Value> {
        self.original.as_deref()
    }
}

fn is_empty(causes: &Causes) -> bool {
    causes.first().is_none()
}

impl fmt::Display for ErrorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ErrorReport {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.causes.first()
    }
}

impl fmt::Debug for ErrorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorReport")
            .field("kind", &self.kind)
            .field("message", &self.message)
            .field("causes", &self.causes().collect::<Vec<_>>())
            .field("is_transient", &self.is_transient)
            .finish_non_exhaustive()
    }
}
