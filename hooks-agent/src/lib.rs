//! A `ReAct` agent whose methods are hook points of [`hooks_core`].
//!
//! [`ReActAgent`] reasons with a [`ChatModel`] and acts with [`Tool`]s until it has an answer. An
//! [`AgentHook`] receives the events of an agent's calls and may change them:
//!
//! ```
//! use hooks_agent::{AgentExt, Msg, PostCall, ReActAgent, ScriptedModel, agent_hook};
//!
//! struct Sign;
//!
//! #[agent_hook]
//! impl Sign {
//!     fn sign(&self, event: &mut PostCall<'_>) {
//!         event.final_message_mut().push_text(" - A.");
//!     }
//! }
//!
//! # futures::executor::block_on(async {
//! let model = ScriptedModel::new("echo", |request| format!("you said: {}", request.last_text()));
//! let agent = ReActAgent::builder("assistant").model(model).hook(Sign).build()?;
//! let reply = agent.call(Msg::user("hello")).await?;
//! assert_eq!(reply.text(), "you said: hello - A.");
//! # Ok::<(), hooks_agent::AgentError>(())
//! # }).unwrap();
//! ```
//!
//! The events are hook points of the agent's methods, so hooks of methods and hooks of events run
//! in one order. See [`ReActAgent`] for the methods, [`HookEvent`] for the events and [`Flow`] for
//! how a hook directs a call. [The guide](guide::events) describes each event.
//!
//! # Features
//!
//! | feature | |
//! |---|---|
//! | `genai` (default) | [`GenAiModel`]: models over HTTP |
//! | `mcp` | `McpServer`: tools of servers that speak the Model Context Protocol |

/// Guides, each on one topic.
#[cfg(any(doc, doctest))]
pub mod guide {
    #[doc = include_str!("../docs/events.md")]
    pub mod events {}
}

mod agent;
mod builtin;
mod call;
mod error;
mod event;
mod hook;
mod macros;
mod memory;
mod message;
mod model;
mod react;
mod round;
mod run_id;
mod stream;
mod tool;
mod usage;
mod user;

pub use hooks_core;
pub use hooks_core::{HookError, HookResult};
pub use tokio_util::sync::CancellationToken;

pub use agent::{
    Agent, AgentExt, AgentObserveArgs, AgentPrintArgs, AgentReplyArgs, AgentSettledArgs,
    AgentState, CallOutcome,
};
pub use builtin::{JsonlTrace, JsonlTraceBuilder, TraceError};
pub use call::{CallContext, CallOptions};
pub use error::{AgentError, BuildError, InputError, WithHookFailures};
pub use event::{
    ActingChunk, Decision, ErrorEvent, ErrorPhase, EventKind, EventMask, Flow, HookEvent, IntoFlow,
    PostActing, PostCall, PostReasoning, PostSummary, PreActing, PreCall, PreReasoning, PreSummary,
    ReasoningChunk, Settled, Substitute, SummaryChunk,
};
pub use hook::{
    AgentHook, Blocking, Finding, Rewrite, priority, register_call_hook, remove_call_hook,
};
pub use macros::agent_hook;
pub use memory::Memory;
pub use message::{
    ContentBlock, GenerateReason, Messages, Msg, PendingCall, PendingReason, Role, ToolResult,
    ToolUse, unanswered_tool_uses,
};
#[cfg(feature = "genai")]
pub use model::GenAiModel;
pub use model::{
    ChatChunk, ChatModel, ChatRequest, ChatStream, FinishReason, ModelAnswer, ModelError,
    ModelOptions, ReasoningEffort, ResponseFormat, ScriptedAnswer, ScriptedModel, ToolChoice,
    ToolSpec,
};
pub use react::{
    AgentTool, CompressContext, ContextConfig, Limits, ReActAgent, ReActAgentActingArgs,
    ReActAgentActingChunkArgs, ReActAgentBuilder, ReActAgentCheckPermissionArgs,
    ReActAgentCompressContextArgs, ReActAgentModelCallArgs, ReActAgentReasoningArgs,
    ReActAgentReasoningChunkArgs, ReActAgentSummarizingArgs, ReActAgentSummaryChunkArgs,
    ReActAgentSystemPromptArgs, ReActAgentToolCallArgs,
};
pub use round::{Acted, ActingInput, Control, JumpTo, Reasoned, ReasoningInput, SummaryInput};
pub use run_id::RunId;
pub use stream::{AgentEvent, AgentEventKind, AgentStream};
pub use tool::{
    FunctionTool, IntoToolOutput, Permission, Tool, ToolContext, ToolError, ToolFuture, Tools,
};
#[cfg(feature = "mcp")]
pub use tool::{McpError, McpServer};
pub use usage::Usage;
pub use user::{UserAgent, UserAgentBuilder};
