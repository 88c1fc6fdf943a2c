//! Why no tools were chosen, and what becomes of the round.

use hooks_agent_core::hook::HookModelError;

/// Which tools a round has if the model does not choose any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnSelectionFailure {
    /// The call fails with the [`ToolSelectorError`].
    #[default]
    Error,
    /// The tools that are always included, and no others.
    None,
    /// All tools.
    All,
    /// The tools of these names, and those that are always included.
    List(Vec<String>),
}

/// Why no tools were chosen.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolSelectorError {
    /// The model failed.
    #[error("the tools of the round were not chosen")]
    Model(#[from] HookModelError),
    /// The model did not answer with a list.
    #[error(
        "model `{model}` answered without a list of tools: it calls `select_tools`, or writes JSON such as \
         {{\"tools\": [\"name\"]}}"
    )]
    NoList {
        /// The name of the model.
        model: String,
    },
    /// The model named tools that it could not choose.
    #[error("model `{model}` chose unknown tools: {}", names.join(", "))]
    UnknownTools {
        /// The name of the model.
        model: String,
        /// The names.
        names: Vec<String>,
    },
    /// The hook names tools that the agent does not have.
    #[error(
        "`always_include` or `on_failure` names tools that the agent does not have: {}; it has: {}",
        names.join(", "),
        known.join(", ")
    )]
    NoSuchTools {
        /// The names.
        names: Vec<String>,
        /// The names of the agent's tools.
        known: Vec<String>,
    },
}
