//! The `ReAct` agent: reasons and acts in turns until it has an answer.

mod agent;
mod batch;
mod builder;
mod context;
mod install;
mod points;
mod resume;
mod run;
mod sub_agent;
mod summary;
mod threads;

pub use agent::ReActAgent;
pub use builder::ReActAgentBuilder;
pub use context::{CompressContext, ContextConfig};
pub use points::{
    ReActAgentActingArgs, ReActAgentActingChunkArgs, ReActAgentCheckPermissionArgs,
    ReActAgentCompressContextArgs, ReActAgentModelCallArgs, ReActAgentReasoningArgs,
    ReActAgentReasoningChunkArgs, ReActAgentSummarizingArgs, ReActAgentSummaryChunkArgs,
    ReActAgentSystemPromptArgs, ReActAgentToolCallArgs,
};
pub use sub_agent::AgentTool;
