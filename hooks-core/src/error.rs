//! What can go wrong with hooks.

use std::error::Error;
use std::time::Duration;

use crate::hook_type::{HookType, Level, ParseHookTypeError};

/// The error that a hook itself returns: anything that is an error, or a text.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// What a hook that can fail returns; `?` works in it on any error.
///
/// ```
/// use hooks_core::HookResult;
///
/// fn check(text: &str) -> HookResult {
///     let _number: i32 = text.parse()?;
///     if text.len() > 3 {
///         return Err("too long".into());
///     }
///     Ok(())
/// }
/// assert_eq!(check("12345").unwrap_err().to_string(), "too long");
/// ```
pub type HookResult<T = ()> = Result<T, BoxError>;

/// A failure of a hook, or of an operation on hooks.
///
/// A fallible hooked method must be able to carry it: its error type implements
/// `From<HookError>` (with thiserror: `#[from] HookError`).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// A hook returned an error. The call failed with it; the cause is the source.
    #[error("{level} hook `{hook}` failed at {hook_type}")]
    Failed {
        /// The name that the hook was registered under.
        hook: String,
        /// Where it ran.
        hook_type: HookType,
        /// On which level it was registered.
        level: Level,
        /// What the hook returned.
        source: BoxError,
    },
    /// A hook took longer than it may.
    #[error("{level} hook `{hook}` at {hook_type} took longer than {after:?}")]
    TimedOut {
        /// The name that the hook was registered under.
        hook: String,
        /// Where it ran.
        hook_type: HookType,
        /// On which level it was registered.
        level: Level,
        /// How long it may take.
        after: Duration,
    },
    /// The method was called from inside its own call, which it denies.
    #[error("re-entrant call of `{method}` denied by `reentry = \"deny\"`")]
    Reentered {
        /// The method.
        method: String,
    },
    /// The method was called from inside its own call too many times over.
    #[error("re-entrancy limit exceeded: {depth} calls of `{method}` are inside of each other")]
    TooDeep {
        /// The method.
        method: String,
        /// How deep calls may go.
        depth: usize,
    },
    /// The call has more around hooks than fit on the stack of a thread. None of them ran.
    #[error("`{method}` has {count} around hooks, at most {limit} can be nested")]
    TooManyAroundHooks {
        /// The method.
        method: String,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// No hook with that name is registered there. Nothing was changed.
    #[error("hook '{hook}' not found in '{hook_type}' hooks of the {agent} {level}")]
    NotFound {
        /// The name that was asked for.
        hook: String,
        /// The hook type that was searched.
        hook_type: HookType,
        /// The agent's type.
        agent: String,
        /// The level that was searched.
        level: Level,
    },
    /// The agent has no such hook type. Nothing was changed.
    #[error("unknown hook type '{hook_type}' of {agent}, expected one of: {}", known.join(", "))]
    UnknownHookType {
        /// The hook type that was asked for.
        hook_type: HookType,
        /// The agent's type.
        agent: String,
        /// The hook types that the agent has.
        known: Vec<String>,
    },
    /// The hook point takes no hook over JSON, or none of this form. Nothing was changed.
    #[error("{hook_type} of {agent} does not take this hook over JSON: {reason}")]
    NoJson {
        /// The hook type that was asked for.
        hook_type: HookType,
        /// The agent's type.
        agent: String,
        /// What to write instead.
        reason: &'static str,
    },
    /// The text is not a hook type.
    #[error(transparent)]
    MalformedHookType(#[from] ParseHookTypeError),
}
