//! How an agent is made.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::agent::{AgentState, Printer};
use crate::error::BuildError;
use crate::event::{AgentHook, HookList};
use crate::message::Msg;
use crate::model::{ChatModel, ModelOptions, ToolSpec};
use crate::react::agent::{Core, ReActAgent};
use crate::react::context::{CompressContext, ContextConfig};
use crate::react::sub_agent::inheriting;
use crate::react::threads::Threads;
use crate::tool::Tool;

/// Makes [`ReActAgent`]s. A clone of it makes agents that share its model, tools and hooks, and
/// nothing else.
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
#[derive(Clone)]
#[must_use]
pub struct ReActAgentBuilder {
    name: Arc<str>,
    system_prompt: Option<String>,
    model: Option<Arc<dyn ChatModel>>,
    options: ModelOptions,
    tools: Vec<Arc<dyn Tool>>,
    hooks: HookList<ReActAgent>,
    compressor: Option<Arc<dyn CompressContext>>,
    context: ContextConfig,
    max_iters: usize,
    max_jumps: usize,
    tool_timeout: Option<Duration>,
    runs_tools_at_once: bool,
    recovers_pending: bool,
    printer: Option<Printer>,
}

impl ReActAgent {
    /// Starts an agent of that name; a model is required, everything else has a default.
    pub fn builder(name: impl Into<Arc<str>>) -> ReActAgentBuilder {
        ReActAgentBuilder {
            name: name.into(),
            system_prompt: None,
            model: None,
            options: ModelOptions::default(),
            tools: Vec::new(),
            hooks: HookList::default(),
            compressor: None,
            context: ContextConfig::default(),
            max_iters: ReActAgentBuilder::DEFAULT_MAX_ITERS,
            max_jumps: ReActAgentBuilder::DEFAULT_MAX_JUMPS,
            tool_timeout: None,
            runs_tools_at_once: false,
            recovers_pending: false,
            printer: None,
        }
    }
}

impl ReActAgentBuilder {
    /// How many rounds of reasoning a call may take unless it is said.
    pub const DEFAULT_MAX_ITERS: usize = 10;

    /// How many times in a row hooks may jump unless it is said.
    pub const DEFAULT_MAX_JUMPS: usize = 3;

    /// What the agent reasons with. Required.
    pub fn model(mut self, model: impl ChatModel + 'static) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// How the model is to answer.
    pub fn model_options(mut self, options: ModelOptions) -> Self {
        self.options = options;
        self
    }

    /// Instructions that stand before every conversation; an empty text is none.
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// Adds something that the agent can do.
    pub fn tool(self, tool: impl Tool + 'static) -> Self {
        self.shared_tool(Arc::new(tool))
    }

    /// Adds something that the agent can do, and others too.
    pub fn shared_tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds things that the agent can do, and others too.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Adds a hook. Its tools become tools of the agent. Hooks of one name are kept side by side: the
    /// second of the name `Guard` is registered as `Guard (2)`.
    #[track_caller]
    pub fn hook(mut self, hook: impl AgentHook) -> Self {
        self.hooks.add(hook);
        self
    }

    /// How many rounds of reasoning one call may take; then it is summed up.
    pub fn max_iters(mut self, max_iters: usize) -> Self {
        self.max_iters = max_iters;
        self
    }

    /// How many times in a row hooks may send a call back to the model.
    pub fn max_jumps(mut self, max_jumps: usize) -> Self {
        self.max_jumps = max_jumps;
        self
    }

    /// How long one tool call may take, in a runtime of tokio with time; a longer one is dropped and
    /// has failed.
    pub fn tool_timeout(mut self, timeout: Duration) -> Self {
        self.tool_timeout = Some(timeout);
        self
    }

    /// Runs the tool calls of one answer at the same time. The events of one call stay in order, and
    /// results are remembered in the order of the calls.
    pub fn parallel_tools(mut self, at_once: bool) -> Self {
        self.runs_tools_at_once = at_once;
        self
    }

    /// Gives tool calls up that wait for a result when a call comes without one: they are answered by
    /// an error. Without it such a call fails.
    pub fn recover_pending(mut self, recover: bool) -> Self {
        self.recovers_pending = recover;
        self
    }

    /// What makes a long conversation shorter, and when.
    pub fn compressor(
        mut self,
        compressor: impl CompressContext + 'static,
        config: ContextConfig,
    ) -> Self {
        self.compressor = Some(Arc::new(compressor));
        self.context = config;
        self
    }

    /// Where printed text goes; without one it goes nowhere.
    pub fn printer(mut self, printer: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.printer = Some(Arc::new(printer));
        self
    }

    /// The agent.
    ///
    /// # Errors
    /// [`BuildError`] if the model is missing or two tools share a name.
    pub fn build(self) -> Result<ReActAgent, BuildError> {
        let Self { name, model, hooks, .. } = self;
        let Some(model) = model else {
            return Err(BuildError::MissingModel { agent: name.to_string() });
        };
        let mut tools = inheriting(&self.tools, &hooks.inherited());
        tools.extend(hooks.tools());
        refuse_duplicates(&name, &tools)?;
        let specs = tools.iter().map(|tool| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema().clone(),
        });
        let system = self.system_prompt.filter(|prompt| !prompt.trim().is_empty());
        let core = Core {
            state: Arc::new(AgentState::new(name)),
            threads: Arc::new(Threads::default()),
            system: system.map(|prompt| Arc::new(Msg::system(prompt))),
            model_name: model.name().into(),
            model,
            options: Arc::new(self.options),
            specs: specs.collect(),
            tools,
            compressor: self.compressor,
            context: self.context,
            max_iters: self.max_iters,
            max_jumps: self.max_jumps,
            tool_timeout: self.tool_timeout,
            runs_tools_at_once: self.runs_tools_at_once,
            recovers_pending: self.recovers_pending,
            printer: self.printer,
        };
        Ok(ReActAgent::assemble(core, &hooks))
    }
}

fn refuse_duplicates(agent: &str, tools: &[Arc<dyn Tool>]) -> Result<(), BuildError> {
    for (index, tool) in tools.iter().enumerate() {
        if tools[..index].iter().any(|known| known.name() == tool.name()) {
            let tool = tool.name().to_owned();
            return Err(BuildError::DuplicateTool { agent: agent.to_owned(), tool });
        }
    }
    Ok(())
}

impl fmt::Debug for ReActAgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReActAgentBuilder")
            .field("name", &self.name)
            .field("tools", &self.tools)
            .field("hooks", &self.hooks)
            .field("max_iters", &self.max_iters)
            .finish_non_exhaustive()
    }
}
