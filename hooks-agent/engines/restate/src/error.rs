//! The errors of calls, as the engine gets them.

use std::any::Any;

use hooks_agent_core::error::AgentError;
use hooks_agent_core::journal::JournalError;
use restate_sdk::errors::{HandlerError, TerminalError};

use crate::log::VERSION;

/// Returns the error of a call that this program does not run. It is not tried again.
pub(crate) fn refused(error: &JournalError) -> TerminalError {
    TerminalError::new_with_code(409, error.to_string())
}

/// Returns the error of a log of a newer version. The engine tries again, so that a newer program may
/// go on.
pub(crate) fn newer(found: u64) -> JournalError {
    JournalError::Version { what: "the log of the call".to_owned(), found, known: VERSION }
}

/// Returns the error of a call that another agent began.
pub(crate) fn differs(agent: &str, build: Option<String>, runs: &str) -> JournalError {
    let build = build.map(|build| format!(" of build `{build}`")).unwrap_or_default();
    let what = format!("it is a call of agent `{agent}`{build}, this program runs `{runs}`");
    JournalError::Differs { what }
}

/// Returns the error of an agent that panicked, with its message.
pub(crate) fn panicked(panic: &(dyn Any + Send)) -> AgentError {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.map(|text| format!(": {text}")).unwrap_or_default();
    AgentError::other(format!("the agent panicked{text}"))
}

/// Returns the error of a call that failed, with the texts of its causes. The engine tries again what may
/// pass.
pub(crate) fn failed(error: &AgentError) -> HandlerError {
    let report = error.report();
    let mut text = report.message().to_owned();
    for cause in report.causes() {
        // Some errors have the text of their cause.
        if !text.contains(cause) {
            text = format!("{text}: {cause}");
        }
    }
    if report.is_transient() {
        return text.into();
    }
    TerminalError::new(text).into()
}

#[cfg(test)]
mod tests {
    use hooks_agent_core::error::AgentError;
    use hooks_agent_core::model::ModelError;

    use super::failed;

    #[test]
    fn only_an_error_that_may_pass_is_one_that_the_engine_tries_again() {
        let shown = |error: ModelError| format!("{:?}", failed(&AgentError::from(error)));
        assert!(shown(ModelError::status("m", 503)).starts_with("HandlerError(Retryable("));
        assert!(shown(ModelError::status("m", 401)).starts_with("HandlerError(Terminal("));
    }

    #[test]
    fn an_error_has_the_text_of_each_cause_once() {
        /// It says what its cause says too, as some errors do.
        #[derive(Debug)]
        struct Repeats(std::io::Error);
        impl std::fmt::Display for Repeats {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "not written: {}", self.0)
            }
        }
        impl std::error::Error for Repeats {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                Some(&self.0)
            }
        }
        let error = AgentError::other(Repeats(std::io::Error::other("the disk is full")));
        let shown = format!("{:?}", failed(&error));
        assert_eq!(shown.matches("the disk is full").count(), 1, "{shown}");
    }
}
