//! Agents that reason with a language model and act with tools, in which every step is open to
//! hooks.
//!
//! A program builds a [`ReActAgent`] from a [`ChatModel`] and [`Tool`]s and calls it. Event hooks
//! receive each step of the call and may change it: they guard tools, ask for approval, redact, retry
//! and trace. The crate is for programs that answer for what their agents do, and for libraries that
//! share such rules as an [`AgentHook`].
//!
//! ```
//! use hooks_agent::prelude::*;
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
//! # Ok::<(), hooks_agent::error::AgentError>(())
//! # }).unwrap();
//! ```
//!
//! # Events
//!
//! | event | when | a hook may change | its flows |
//! |---|---|---|---|
//! | [`PreCall`] | before a call | messages, system message | `answer` |
//! | [`PreReasoning`] | before the model, each round | messages, system message | `answer`, `stop` |
//! | | | tools, options of the model | `jump_to_tools`, `jump_to_end` |
//! | [`ReasoningChunk`] | a chunk of the answer | | |
//! | [`PostReasoning`] | after the answer | the answer | `ask`, `stop`, `jump_to_model`, `jump_to_end` |
//! | [`PreActing`] | before each tool call | the tool call | `answer`, `refuse`, `ask`, `stop` |
//! | | | | `jump_to_model`, `jump_to_end` |
//! | [`ActingChunk`] | a tool reports progress | | |
//! | [`PostActing`] | after each tool call | the result | `stop`, `jump_to_model`, `jump_to_end` |
//! | [`PreSummary`] | the limit of rounds is reached | messages, system message | `answer`, `stop` |
//! | | | options of the model | |
//! | [`SummaryChunk`] | a chunk of the summary | | |
//! | [`PostSummary`] | after the summary | the summary | |
//! | [`PostCall`] | after a call | the reply | |
//! | [`ErrorEvent`] | a model, a tool or a hook failed | | `recover` |
//! | [`Settled`] | the end of every call | | |
//!
//! A hook that returns a [`Flow`] directs the call. Each flow is a method of its event, such as
//! [`event.refuse(reason)`](event::PreActing::refuse). A [`ModelCall`] or a [`ToolCall`] with its
//! `next` lets a hook run around the model or a tool: to retry, to cache, to ask another model.
//!
//! The events are hook points of the agent's methods, so hooks of methods and hooks of events run in
//! one order. [The guide](guide::events) has the details.
//!
//! # Modules
//!
//! | module | what is in it |
//! |---|---|
//! | [`prelude`] | what most programs need |
//! | [`react`] | [`ReActAgent`], its builder, threads and limits, an agent as a tool |
//! | [`agent`] | the [`Agent`] trait, and [`AgentExt`], which calls an agent |
//! | [`call`] | the options and the context of a call, and its interrupt |
//! | [`event`] | the events, and [`Flow`] |
//! | [`hook`](mod@hook) | [`AgentHook`], hooks from closures, around hooks, hooks of general use |
//! | [`model`] | [`ChatModel`], [`GenAiModel`] over HTTP, [`ScriptedModel`] for tests |
//! | [`tool`] | [`Tool`], [`FunctionTool`], permissions, tools of MCP servers |
//! | [`message`] | messages, blocks of content, tool calls and their results |
//! | [`memory`] | the messages of a conversation, and the values that hooks keep with it |
//! | [`store`] | stores of threads: what survives a crash, and the questions that wait for people; [the guide](guide::stores) |
//! | [`stream`] | a call as a stream of its events |
//! | [`thread`] | the threads of an agent, and the store of one process |
//! | [`round`] | the inputs and outputs of the agent's methods, for hooks of methods |
//! | `command` | programs, servers, tools and models as hooks (feature `command`) |
//! | `policy` | hooks from files that operators write (feature `policy`) |
//! | `replay` | calls that are recorded and replayed (feature `replay`) |
//! | `guest` | the hooks of this crate for agents written elsewhere (feature `guest`) |
//! | `proxy` | guards between agents and their servers: those of MCP, and the APIs of models (feature `proxy`) |
//! | `serve` | a guard that stays, and is asked over a socket (feature `serve`) |
//! | `interceptors` | the interceptors of AGENT-HOOKS-0.1 in these agents (feature `interceptors`) |
//! | [`user`] | the user as an agent |
//! | [`builtin`] | built-in hooks, by what they are for, and their order |
//! | [`error`] | the errors |
//!
//! # Features
//!
//! | feature | |
//! |---|---|
//! | `tls` (default) | HTTPS, and encrypted connections to PostgreSQL, by aws-lc, a library in C |
//! | `tls-ring` | the same by ring, in place of `tls`; with neither, connections are plain |
//! | `genai` (default) | [`GenAiModel`]: models over HTTP |
//! | `schema` (default) | [`Decision::Edit`]: people edit arguments, which are checked against the schema of the tool |
//! | `mcp` | `McpServer`: tools of processes that speak the Model Context Protocol |
//! | `mcp-http` | `McpServer::connect`: the same of servers behind a URL |
//! | `recognizer` | `RemoteRecognizer`: names and addresses in texts, by a model behind a URL |
//! | `testing` | `testing`: tests of hooks, tools and agents |
//! | `audit` | `AuditLog` |
//! | `metrics` | `Monitoring`, `MeteredStore` |
//! | `pii` | `PiiDetection`, `Secrets`, `Sanitize` |
//! | `rate-limit` | `RateLimit` |
//! | `retry` | `ModelRetry`, `ToolRetry` |
//! | `rules` | `Rules`, `Condition`, `EgressGuard`, `Quotas` |
//! | `provenance` | `Provenance`, with `rules` |
//! | `secrets` | `ToolParams` |
//! | `structured-output` | `StructuredOutput`, `call_typed`, `stream_typed` |
//! | `words` | `SensitiveWords` |
//! | `skills` | `Skills` |
//! | `tiktoken` | `TokenCounter::tiktoken` |
//! | `sqlite` | `SqliteStore`, `SqliteMemories` |
//! | `postgres` | `PostgresStore`, `PostgresMemories` |
//! | `knowledge` | `TextIndex`, `VectorIndex`; with `genai` `GenAiEmbedder`, with `postgres` `PgVectors` |
//! | `studio` | `Studio` |
//! | `studio-join` | `Studio::join`: processes that send their runs to the studio of another one |
//! | `ag-ui` | `ag_ui` |
//! | `otel` | `OpenTelemetry` |
//! | `command` | `CommandHooks` |
//! | `command-http` | `CommandEntry::http`: servers as hooks |
//! | `policy` | `Policy` |
//! | `replay` | `Tape` |
//! | `guest` | `guest::Guard`: hooks for agents written elsewhere; with `sqlite` `GuestThreads` |
//! | `proxy` | `proxy::mcp::McpProxy`: hooks between any agent and its MCP servers; `proxy::ModelProxy`: and the API of its model |
//! | `serve` | `serve::Server`: a guard that stays, and is asked over a socket |
//! | `interceptors` | `interceptors::Interceptors`, `interceptors::Guarded`: policy engines and filters that speak AGENT-HOOKS-0.1 |
//! | `cli` | the program `hooks-agent` |
//! | `full` | all of them |
//!
//! # Systems
//!
//! On Windows `CommandHooks` do not open, a server of `serve` listens at an address alone, and the program `hooks-agent`
//! installs nothing: [what it says there](guide::guest#windows).
//!
//! [`Decision::Edit`]: store::Decision::Edit
//! [`ReActAgent`]: react::ReActAgent
//! [`ChatModel`]: model::ChatModel
//! [`GenAiModel`]: model::GenAiModel
//! [`ScriptedModel`]: model::ScriptedModel
//! [`Tool`]: tool::Tool
//! [`FunctionTool`]: tool::FunctionTool
//! [`Agent`]: agent::Agent
//! [`AgentExt`]: agent::AgentExt
//! [`AgentHook`]: hook::AgentHook
//! [`ModelCall`]: hook::ModelCall
//! [`ToolCall`]: hook::ToolCall
//! [`Flow`]: event::Flow
//! [`PreCall`]: event::PreCall
//! [`PreReasoning`]: event::PreReasoning
//! [`ReasoningChunk`]: event::ReasoningChunk
//! [`PostReasoning`]: event::PostReasoning
//! [`PreActing`]: event::PreActing
//! [`ActingChunk`]: event::ActingChunk
//! [`PostActing`]: event::PostActing
//! [`PreSummary`]: event::PreSummary
//! [`SummaryChunk`]: event::SummaryChunk
//! [`PostSummary`]: event::PostSummary
//! [`PostCall`]: event::PostCall
//! [`ErrorEvent`]: event::ErrorEvent
//! [`Settled`]: event::Settled

#[cfg(any(doc, doctest))]
pub mod guide;

pub mod builtin;
pub mod model;
pub mod prelude;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tool;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub use hooks_agent_cli as cli;
pub use hooks_agent_core::hooks_core;
#[doc(inline)]
pub use hooks_agent_core::macros::{agent_hook, tool};
#[doc(inline)]
pub use hooks_agent_core::{
    HookError, HookResult, HookRole, Hookable, Hooks, agent, call, error, event, hook, hookable,
    journal, memory, message, on, react, round, stream, thread, user,
};

#[doc(hidden)]
pub use hooks_agent_core::{__on, __private};
#[cfg(feature = "guest")]
#[doc(inline)]
pub use hooks_agent_guest as guest;
#[cfg(feature = "interceptors")]
#[doc(inline)]
pub use hooks_agent_interceptors as interceptors;
#[cfg(feature = "command")]
#[doc(inline)]
pub use hooks_agent_policy::command;
#[cfg(feature = "policy")]
#[doc(inline)]
pub use hooks_agent_policy::policy;
#[cfg(feature = "proxy")]
#[doc(inline)]
pub use hooks_agent_proxy as proxy;
#[cfg(feature = "replay")]
#[doc(inline)]
pub use hooks_agent_replay as replay;
#[cfg(feature = "serve")]
#[doc(inline)]
pub use hooks_agent_serve as serve;
