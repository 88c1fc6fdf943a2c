//! Errors of hooks and of the registry.

use std::error::Error;
use std::time::Duration;

use crate::hook_order::OrderFault;
use crate::hook_type::{HookType, Level, ParseNameError};

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

/// Why a hooked call failed, other than by its own body.
///
/// A fallible hooked method must be able to carry it: its error type implements
/// `From<HookError>` (with thiserror: `#[from] HookError`). Its text names the hook and the cause; the
/// cause is also the [`source`](Error::source).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// A hook returned an error. The call failed with it; the cause is the source.
    #[error("{level} hook `{hook}` failed at {hook_type}: {source}")]
    #[non_exhaustive]
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
    /// A hook took longer than its timeout.
    #[error("{level} hook `{hook}` timed out at {hook_type} after {after:?}")]
    #[non_exhaustive]
    TimedOut {
        /// The name that the hook was registered under.
        hook: String,
        /// Where it ran.
        hook_type: HookType,
        /// On which level it was registered.
        level: Level,
        /// Its timeout.
        after: Duration,
    },
    /// A method with `reentry = "deny"` was called from inside its own call.
    #[error("re-entrant call of `{method}` denied by `reentry = \"deny\"`")]
    #[non_exhaustive]
    Reentered {
        /// The method.
        method: String,
    },
    /// The method was called from inside its own call, and the re-entrancy limit is exceeded.
    #[error("re-entrancy limit {depth} of `{method}` exceeded")]
    #[non_exhaustive]
    TooDeep {
        /// The method.
        method: String,
        /// The limit.
        depth: usize,
    },
    /// The call has more around hooks than the limit. None of them ran.
    #[error("`{method}` has {count} around hooks, the limit is {limit}")]
    #[non_exhaustive]
    TooManyAroundHooks {
        /// The method.
        method: String,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// Hooks of the call cannot run in the [order](crate::HookOrder) that they ask for. None of them ran.
    #[error("the hooks of {hook_type} have no order: {fault}")]
    #[non_exhaustive]
    Misordered {
        /// Where they run.
        hook_type: HookType,
        /// What is wrong.
        fault: OrderFault,
    },
    /// The body of a method changed the registry, which refused.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

/// So that methods that return `io::Result` are hooked as they are.
impl From<HookError> for std::io::Error {
    fn from(error: HookError) -> Self {
        Self::other(error)
    }
}

/// Why an operation on the registry was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// No hook of that name is registered there.
    #[error("hook '{hook}' not found in '{hook_type}' hooks of the {agent} {level}")]
    #[non_exhaustive]
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
    /// The agent has no such hook type.
    #[error("unknown hook type '{hook_type}' of {agent}, {}", expected(known))]
    #[non_exhaustive]
    UnknownHookType {
        /// The hook type that was asked for.
        hook_type: HookType,
        /// The agent's type.
        agent: String,
        /// The hook types that the agent has.
        known: Vec<String>,
    },
    /// The hook type takes no hook over JSON, or none of this form.
    #[error("{hook_type} of {agent} does not take this hook over JSON: {reason}")]
    #[non_exhaustive]
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
    MalformedHookType(#[from] ParseNameError),
}

impl RegistryError {
    /// Creates the error of a hook that an instance does not have, for code that keeps hooks of its
    /// own.
    #[must_use]
    pub fn not_found(
        hook: impl Into<String>,
        hook_type: impl Into<HookType>,
        agent: impl Into<String>,
        level: Level,
    ) -> Self {
        let (hook, hook_type, agent) = (hook.into(), hook_type.into(), agent.into());
        Self::NotFound { hook, hook_type, agent, level }
    }
}

fn expected(known: &[String]) -> String {
    match known {
        [] => "which has no hooked method".to_owned(),
        known => format!("expected one of: {}", known.join(", ")),
    }
}
