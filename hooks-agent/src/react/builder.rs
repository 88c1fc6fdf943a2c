//! How an agent is made.

use std::fmt;
use std::sync::Arc;

use hooks_core::Hooks;

use crate::error::BuildError;
use crate::memory::Memory;
use crate::model::ChatModel;
use crate::react::agent::{Printer, ReActAgent};
use crate::tool::Tool;

/// Makes a [`ReActAgent`].
///
/// ```
/// use hooks_agent::{ReActAgent, ScriptedModel};
///
/// let agent = ReActAgent::builder("assistant")
///     .system_prompt("Answer in one sentence.")
///     .model(ScriptedModel::new("fixed", |_| "Done."))
///     .max_iters(5)
///     .printer(|text| println!("{text}"))
///     .build()?;
/// # Ok::<(), hooks_agent::BuildError>(())
/// ```
#[must_use]
pub struct ReActAgentBuilder {
    name: String,
    system_prompt: Option<String>,
    model: Option<Arc<dyn ChatModel>>,
    tools: Vec<Arc<dyn Tool>>,
    max_iters: usize,
    printer: Option<Printer>,
}

impl ReActAgent {
    /// Starts an agent of that name; a model is required, everything else has a default.
    pub fn builder(name: impl Into<String>) -> ReActAgentBuilder {
        ReActAgentBuilder {
            name: name.into(),
            system_prompt: None,
            model: None,
            tools: Vec::new(),
            max_iters: ReActAgentBuilder::DEFAULT_MAX_ITERS,
            printer: None,
        }
    }
}

impl ReActAgentBuilder {
    /// How many rounds of reasoning a call may take unless it is said.
    pub const DEFAULT_MAX_ITERS: usize = 10;

    /// What the agent reasons with. Required.
    pub fn model(mut self, model: impl ChatModel + 'static) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// Instructions that stand before every conversation.
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// Adds something that the agent can do.
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// How many rounds of reasoning one call may take.
    pub fn max_iters(mut self, max_iters: usize) -> Self {
        self.max_iters = max_iters;
        self
    }

    /// Where printed text goes; without one it goes nowhere.
    pub fn printer(mut self, printer: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.printer = Some(Box::new(printer));
        self
    }

    /// The agent.
    ///
    /// # Errors
    /// [`BuildError`] if the model is missing or two tools share a name.
    pub fn build(self) -> Result<ReActAgent, BuildError> {
        let Self { name, system_prompt, model, tools, max_iters, printer } = self;
        let Some(model) = model else { return Err(BuildError::MissingModel { agent: name }) };
        for (index, tool) in tools.iter().enumerate() {
            if tools[..index].iter().any(|known| known.name() == tool.name()) {
                let tool = tool.name().to_owned();
                return Err(BuildError::DuplicateTool { agent: name, tool });
            }
        }
        let (memory, hooks) = (Memory::new(), Hooks::new());
        Ok(ReActAgent { name, system_prompt, model, tools, memory, max_iters, printer, hooks })
    }
}

impl fmt::Debug for ReActAgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReActAgentBuilder")
            .field("name", &self.name)
            .field("tools", &self.tools)
            .field("max_iters", &self.max_iters)
            .finish_non_exhaustive()
    }
}
