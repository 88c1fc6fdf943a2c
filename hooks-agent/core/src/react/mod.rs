//! The `ReAct` agent: reasons and acts in turns until it has an answer.

mod agent;
mod agent_tool;
mod around_hooks;
mod builder;
mod compressor;
mod event_hooks;
mod forget;
mod hook_order;
mod hook_source;
mod journaled;
mod limits;
mod methods;
mod reply;
mod rewind;
mod run;
mod steer;

pub use crate::thread::Threads;
pub use agent::ReActAgent;
pub use agent_tool::AgentTool;
pub use builder::ReActAgentBuilder;
pub use compressor::{CompressContext, ContextConfig};
pub use hook_source::{HookSet, HookSource};
pub use limits::Limits;
pub use methods::{
    ReActAgentActingArgs, ReActAgentActingChunkArgs, ReActAgentCheckPermissionArgs,
    ReActAgentCompressContextArgs, ReActAgentModelAttemptArgs, ReActAgentModelCallArgs,
    ReActAgentReasoningArgs, ReActAgentReasoningChunkArgs, ReActAgentSummarizingArgs,
    ReActAgentSummaryChunkArgs, ReActAgentSystemPromptArgs, ReActAgentToolCallArgs,
    ReActAgentWholeCallArgs,
};
