//! The error of what interceptors blocked.

use std::error::Error;
use std::sync::Arc;

use agent_hooks::{InterceptionPoint, InterceptionRecord};

/// What interceptors blocked: the source of the error of a call that is blocked at its start, its input, a model
/// call or its output. Without content: the verdict's reason is the interceptor's own. [`find`](Self::find) finds it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
#[non_exhaustive]
pub struct Blocked {
    /// The point.
    pub point: InterceptionPoint,
    /// The reason of the verdict, if it has one: `host_error:` and more if the host decided.
    pub reason: Option<String>,
    /// The message of the verdict, if it has one.
    pub message: Option<String>,
    /// The name of the interceptor that decided, if one did.
    pub interceptor: Option<String>,
}

impl Blocked {
    /// Returns the block that an error comes from, if one is.
    ///
    /// ```
    /// use hooks_agent::interceptors::agent_hooks::InterceptionPoint;
    /// use hooks_agent::interceptors::{Blocked, Interceptors, Profile};
    /// use hooks_agent::prelude::*;
    ///
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// // Without interceptors, everything is denied.
    /// let interceptors = Interceptors::new(Profile::default());
    /// let model = ScriptedModel::new("fixed", |_| "Done.");
    /// let agent = ReActAgent::builder("assistant").model(model).hook(interceptors).build()?;
    /// let error = agent.call("Go").await.unwrap_err();
    /// let blocked = Blocked::find(&error).unwrap();
    /// assert_eq!(blocked.point, InterceptionPoint::AgentStartup);
    /// assert_eq!(blocked.reason.as_deref(), Some("host_error:no_interceptor"));
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn find<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        let mut next = Some(error);
        while let Some(cause) = next {
            let shared = cause.downcast_ref::<Arc<dyn Error + Send + Sync>>();
            let found = shared.map_or_else(|| cause.downcast_ref(), |inner| inner.downcast_ref());
            if found.is_some() {
                return found;
            }
            next = cause.source();
        }
        None
    }

    pub(super) fn of(record: &InterceptionRecord, interceptor: Option<String>) -> Self {
        Self {
            point: record.interception_point,
            reason: record.verdict.reason.clone(),
            message: record.verdict.message.clone(),
            interceptor,
        }
    }

    /// Returns the reason with its message, without the point.
    pub(super) fn why(&self) -> String {
        let reason = self.reason.as_deref().unwrap_or("no reason was given");
        match &self.message {
            Some(message) if message != reason => format!("{reason}: {message}"),
            _ => reason.to_owned(),
        }
    }

    fn text(&self) -> String {
        let by = self.interceptor.as_ref().map(|by| format!("interceptor `{by}` "));
        let (point, why) = (self.point, self.why());
        let hint = match self.reason.as_deref() {
            Some("host_error:no_interceptor") => {
                ": nobody is asked there, so add an interceptor, or the point to the `at` of one"
            }
            _ => "",
        };
        match by {
            Some(by) => format!("{by}blocked `{point}`: {why}"),
            None => format!("`{point}` was blocked: {why}{hint}"),
        }
    }
}
