//! Roles of hooks.

/// What a hook does to a call, for the [warnings](crate::HookPlan::warnings) of plans. It changes
/// nothing about how the hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HookRole {
    /// Removes content, or refuses a call because of its content.
    Redacts,
    /// Passes content on to a log, a trace or another system.
    Observes,
    /// Counts calls and refuses those beyond a limit.
    Limits,
    /// Repeats calls.
    Retries,
    /// Asks people about calls, and leaves content as it is.
    Asks,
    /// Decides which calls may run, and leaves content as it is.
    Guards,
}
