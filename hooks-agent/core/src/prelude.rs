//! The items that most hooks, tools and agents need: `use hooks_agent_core::prelude::*;`.

pub use crate::agent::{Agent, AgentExt, AgentState};
pub use crate::call::{CallContext, CallOptions};
pub use crate::error::AgentError;
pub use crate::event::{
    ActingChunk, ErrorEvent, ErrorPhase, EventKind, EventMask, Flow, HookEvent, PostActing,
    PostCall, PostReasoning, PostSummary, PreActing, PreCall, PreReasoning, PreSummary,
    ReasoningChunk, Settled, SummaryChunk,
};
pub use crate::hook::{
    AgentCall, AgentHook, AgentHookExt, CallHooks, Compression, ModelAttempt, ModelCall,
    NextAttempt, NextCall, NextCompression, NextModel, NextPermission, NextTool, PermissionCheck,
    ToolCall, on, priority,
};
pub use crate::macros::{agent_hook, tool};
pub use crate::message::{ContentBlock, Messages, Msg, Role, ToolResult, ToolUse};
pub use crate::model::{
    ChatModel, ChatRequest, ModelAnswer, ModelOptions, ScriptedAnswer, ScriptedModel,
};
pub use crate::react::ReActAgent;
pub use crate::stream::{AgentEvent, AgentEventKind, AgentStream};
pub use crate::tool::{FunctionTool, Permission, Tool, ToolContext, ToolError};
pub use crate::{HookResult, HookRole, Hookable, Hooks, hook, hookable, on};
