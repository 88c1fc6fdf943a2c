//! The errors of limits of calls.

use std::error::Error;
use std::fmt;

use crate::limit::exit::Exit;

/// Why a limit of calls cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallLimitError {
    /// It limits nothing.
    #[error("At least one limit must be specified (thread_limit or run_limit)")]
    NoLimit,
    /// A run could never reach its limit.
    #[error("run_limit ({run}) cannot exceed thread_limit ({thread})")]
    RunAboveThread {
        /// The limit of a run.
        run: u64,
        /// The limit of a thread.
        thread: u64,
    },
    /// The limit cannot end so.
    #[error("Invalid exit_behavior: {exit}. Must be 'end' or 'error'")]
    InvalidExit {
        /// What was chosen.
        exit: Exit,
    },
    /// It has a text that no reply shows.
    #[error(
        "the `text` of a limit is the reply of `Exit::End`: leave it out with `Exit::{exit:?}`"
    )]
    UnusedText {
        /// What was chosen.
        exit: Exit,
    },
}

/// The error of a call whose model calls reached a
/// [`ModelCallLimit`](crate::limit::ModelCallLimit).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelCallLimitExceeded {
    /// The model calls of the thread.
    pub thread_count: u64,
    /// The limit of the thread.
    pub thread_limit: Option<u64>,
    /// The model calls of the run.
    pub run_count: u64,
    /// The limit of the run.
    pub run_limit: Option<u64>,
}

impl fmt::Display for ModelCallLimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Model call limits exceeded: ")?;
        let Self { thread_count, thread_limit, run_count, run_limit } = *self;
        write_reached(f, (thread_count, thread_limit), (run_count, run_limit))
    }
}

impl Error for ModelCallLimitExceeded {}

/// The error of a call whose tool calls exceed a [`ToolCallLimit`](crate::limit::ToolCallLimit).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolCallLimitExceeded {
    /// The tool that is limited; `None` if all are.
    pub tool: Option<String>,
    /// The tool calls of the thread, with those that did not run.
    pub thread_count: u64,
    /// The limit of the thread.
    pub thread_limit: Option<u64>,
    /// The tool calls of the run, with those that did not run.
    pub run_count: u64,
    /// The limit of the run.
    pub run_limit: Option<u64>,
    /// Whether all tool calls ran, and the next model call is refused.
    pub(super) is_at_model_call: bool,
}

impl fmt::Display for ToolCallLimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thread_count, thread_limit, run_count, run_limit, .. } = *self;
        if self.is_at_model_call {
            match &self.tool {
                Some(tool) => write!(f, "'{tool}' tool call limits exceeded: ")?,
                None => f.write_str("Tool call limits exceeded: ")?,
            }
            return write_reached(f, (thread_count, thread_limit), (run_count, run_limit));
        }
        match &self.tool {
            Some(tool) => write!(f, "'{tool}' tool call limit reached: ")?,
            None => f.write_str("Tool call limit reached: ")?,
        }
        let part = |name: &str, count, limit: Option<u64>| {
            let limit = limit.filter(|limit| count > *limit)?;
            Some(format!("{name} limit exceeded ({count}/{limit} calls)"))
        };
        let parts = [part("thread", thread_count, thread_limit), part("run", run_count, run_limit)];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        write!(f, "{}.", parts.join(" and "))
    }
}

impl Error for ToolCallLimitExceeded {}

/// Writes the limits that are reached, each with its count.
fn write_reached(
    f: &mut fmt::Formatter<'_>,
    thread: (u64, Option<u64>),
    run: (u64, Option<u64>),
) -> fmt::Result {
    let part = |name: &str, (count, limit): (u64, Option<u64>)| {
        let limit = limit.filter(|limit| count >= *limit)?;
        Some(format!("{name} limit ({count}/{limit})"))
    };
    let parts: Vec<_> = [part("thread", thread), part("run", run)].into_iter().flatten().collect();
    f.write_str(&parts.join(", "))
}
