//! The `ReAct` agent: it reasons, acts, and reasons again until it has an answer.

mod agent;
mod builder;
mod pending;

pub use agent::{
    ReActAgent, ReActAgentActingArgs, ReActAgentObserveArgs, ReActAgentPrintArgs,
    ReActAgentReasoningArgs, ReActAgentReplyArgs,
};
pub use builder::ReActAgentBuilder;
