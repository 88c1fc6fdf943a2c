//! A `ReAct` agent whose methods are hooked by [`hooks_core`].
//!
//! [`ReActAgent`] reasons with a [`ChatModel`] and acts with [`Tool`]s until it has an answer.
//! Its `reply`, `observe`, `print`, `reasoning` and `acting` are hook points:
//!
//! ```
//! use hooks_agent::{Msg, ReActAgent, ReActAgentReplyArgs, ScriptedModel};
//! use hooks_core::Hookable;
//!
//! # futures::executor::block_on(async {
//! let model = ScriptedModel::new("echo", |request| format!("you said: {}", request.last_text()));
//! let agent = ReActAgent::builder("assistant").model(model).build()?;
//! agent.register_instance_hook(
//!     ReActAgent::POST_REPLY,
//!     "sign",
//!     |_: &ReActAgent, _: &ReActAgentReplyArgs, reply: &mut Msg| reply.push_text(" - A."),
//! );
//! let reply = agent.reply(Msg::user("hello")).await?;
//! assert_eq!(reply.text(), "you said: hello - A.");
//! # Ok::<(), hooks_agent::AgentError>(())
//! # }).unwrap();
//! ```

mod error;
mod memory;
mod message;
mod model;
mod react;
mod tool;

pub use hooks_core;

pub use error::{AgentError, BuildError};
pub use memory::Memory;
pub use message::{ContentBlock, Msg, Role, ToolResult, ToolUse, unanswered_tool_uses};
#[cfg(feature = "genai")]
pub use model::GenAiModel;
pub use model::{
    ChatChunk, ChatModel, ChatRequest, ChatStream, ModelError, ScriptedAnswer, ScriptedModel,
    ToolSpec, Usage,
};
pub use react::{
    ReActAgent, ReActAgentActingArgs, ReActAgentBuilder, ReActAgentObserveArgs,
    ReActAgentPrintArgs, ReActAgentReasoningArgs, ReActAgentReplyArgs,
};
pub use tool::{FunctionTool, IntoToolOutput, Tool, ToolFuture};
