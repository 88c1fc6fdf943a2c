//! When a limit of tool calls is enforced.

/// When a limit of tool calls is enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitStyle {
    /// Before tool calls run: those beyond the limit do not run.
    #[default]
    BeforeExecution,
    /// At the next model call: all tool calls of an answer run, and once the limit is reached, the
    /// call ends instead of calling the model again. A call that reaches the limit exactly ends
    /// too.
    NextModelCall,
}
