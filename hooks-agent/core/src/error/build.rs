//! The error of an agent that could not be built.

use hooks_core::OrderFault;

/// The error of an agent that could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No model was given.
    #[error("agent `{agent}` has no model, add `.model(..)`")]
    MissingModel {
        /// The name of the agent.
        agent: String,
    },
    /// Two tools have the same name.
    #[error("agent `{agent}` has two tools named `{tool}`, rename one of them")]
    DuplicateTool {
        /// The name of the agent.
        agent: String,
        /// The duplicate name.
        tool: String,
    },
    /// Hooks cannot run in the order that they ask for, by [`before`](crate::hook::AgentHookExt::before),
    /// [`after`](crate::hook::AgentHookExt::after) or [`requires`](crate::hook::AgentHookExt::requires).
    #[error("the hooks of agent `{agent}` have no order: {fault}")]
    Misordered {
        /// The name of the agent.
        agent: String,
        /// What is wrong.
        fault: OrderFault,
    },
    /// A hook was added in shadow that cannot run there.
    #[error("the hook `{hook}` of agent `{agent}` cannot run in shadow: {why}")]
    NotInShadow {
        /// The name of the agent.
        agent: String,
        /// The name of the hook.
        hook: String,
        /// Why.
        why: String,
    },
    /// A hook was to run at once with others, and cannot: it runs around calls, or counts.
    #[error(
        "the hook `{hook}` of agent `{agent}` cannot run in parallel: {why}, so remove `.parallel(true)`"
    )]
    NotParallel {
        /// The name of the agent.
        agent: String,
        /// The name of the hook.
        hook: String,
        /// Why.
        why: String,
    },
    /// A hook cannot run beside the other hooks of the agent.
    #[error("the hook `{hook}` of agent `{agent}` cannot run beside the others: {why}")]
    Conflict {
        /// The name of the agent.
        agent: String,
        /// The name of the hook.
        hook: String,
        /// Why.
        why: String,
    },
    /// Two hooks count in the same thread value, so each call would count twice.
    #[error(
        "the hooks `{}` and `{}` of agent `{agent}` both count in `{counter}`, so each call would count \
         twice: give one of them another name by `.counter(..)`",
        hooks[0], hooks[1]
    )]
    SharedCounter {
        /// The name of the agent.
        agent: String,
        /// The name of the thread value.
        counter: String,
        /// The names of the hooks.
        hooks: [String; 2],
    },
}
