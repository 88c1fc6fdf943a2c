//! The agent and its loop.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use hooks_core::{Hookable, Hooks, hookable};

use crate::error::AgentError;
use crate::memory::Memory;
use crate::message::{Msg, Role, ToolResult, ToolUse};
use crate::model::{ChatModel, ChatRequest, ToolSpec, collect};
use crate::react::pending::PendingCalls;
use crate::tool::Tool;

/// An agent that reasons with a model and acts with tools until it has an answer.
///
/// `reply`, `observe`, `print`, `reasoning` and `acting` are hook points: see [`Hookable`] for
/// how hooks are registered, and [`builder`](ReActAgent::builder) for how an agent is made.
///
/// Whatever happens in a call - an error, a failing hook, a dropped future - each tool call that the
/// model made has exactly one result in [`memory`](ReActAgent::memory) once the call is over.
///
/// An agent holds one conversation: the messages of calls that overlap on one agent stand in its
/// memory as they come, which providers may refuse. Await one reply before asking for the next, and
/// give each conversation an agent of its own.
#[derive(Hookable)]
pub struct ReActAgent {
    pub(super) name: String,
    pub(super) system_prompt: Option<String>,
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) tools: Vec<Arc<dyn Tool>>,
    pub(super) memory: Memory,
    pub(super) max_iters: usize,
    pub(super) printer: Option<Printer>,
    pub(super) hooks: Hooks,
}

/// Where printed text goes.
pub(super) type Printer = Box<dyn Fn(&str) + Send + Sync>;

impl ReActAgent {
    /// The agent's name, which its messages carry.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the agent remembers.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The system prompt and what is remembered: what the model gets to see.
    fn prompt(&self) -> Vec<Msg> {
        let system = self.system_prompt.as_ref().map(Msg::system);
        system.into_iter().chain(self.memory.messages()).collect()
    }

    fn tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }
}

#[hookable]
impl ReActAgent {
    /// Answers a message: reasons and acts in turns until the model asks for no more tools.
    ///
    /// # Errors
    /// Those of the model and of hooks, and [`AgentError::MaxIterations`]. A tool that fails is
    /// no error of the call: the model gets to read what went wrong.
    pub async fn reply(&self, msg: Msg) -> Result<Msg, AgentError> {
        self.memory.add(msg);
        for _ in 0..self.max_iters {
            let reply = self.reasoning(self.prompt()).await?;
            let text = reply.text();
            let mut pending = PendingCalls::of(&self.memory, reply.clone());
            if !text.is_empty() {
                self.print(&text);
            }
            if pending.next().is_none() {
                return Ok(reply);
            }
            while let Some(call) = pending.next() {
                pending.answer(self.acting(call).await?);
            }
        }
        Err(AgentError::MaxIterations { limit: self.max_iters })
    }

    /// Remembers a message without answering it.
    ///
    /// # Errors
    /// Those of hooks.
    pub async fn observe(&self, msg: Msg) -> Result<(), AgentError> {
        self.memory.add(msg);
        Ok(())
    }

    /// Shows text to the person; the text of every model answer goes through here.
    pub fn print(&self, text: &str) {
        if let Some(printer) = &self.printer {
            printer(text);
        }
    }

    /// Asks the model once. Its answer may ask for tools.
    ///
    /// # Errors
    /// Those of the model and of hooks.
    pub async fn reasoning(&self, messages: Vec<Msg>) -> Result<Msg, AgentError> {
        let tools = self.tools.iter().map(|tool| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema().clone(),
        });
        let request = ChatRequest { messages, tools: tools.collect() };
        let content = collect(self.model.name(), self.model.stream(request)).await?;
        Ok(Msg::from_blocks(Role::Assistant, &self.name, content))
    }

    /// Runs one tool. That it fails, panics, does not exist or gets arguments that do not parse
    /// is a result which the model can react to.
    ///
    /// # Errors
    /// Those of hooks.
    pub async fn acting(&self, call: ToolUse) -> Result<ToolResult, AgentError> {
        if let Some(written) = &call.invalid_input {
            let reason = format!(
                "the arguments of `{}` are not a JSON object: {written}; write an object that \
                 fits its schema",
                call.name
            );
            return Ok(ToolResult::error(&call, reason));
        }
        let Some(tool) = self.tool(&call.name) else {
            let known: Vec<_> = self.tools.iter().map(|tool| tool.name()).collect();
            let reason = format!("no tool named `{}`, there are: {}", call.name, known.join(", "));
            return Ok(ToolResult::error(&call, reason));
        };
        let run = AssertUnwindSafe(async { tool.call(call.input.clone()).await });
        Ok(match run.catch_unwind().await {
            Ok(Ok(output)) => ToolResult::success(&call, output),
            Ok(Err(error)) => ToolResult::error(&call, error.to_string()),
            Err(_) => ToolResult::error(&call, format!("the tool `{}` panicked", call.name)),
        })
    }
}

impl fmt::Debug for ReActAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReActAgent")
            .field("name", &self.name)
            .field("model", &self.model.name())
            .field("tools", &self.tools)
            .field("max_iters", &self.max_iters)
            .field("hooks", &self.hooks)
            .finish_non_exhaustive()
    }
}
