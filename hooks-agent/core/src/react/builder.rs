//! The builder of an agent.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hooks_core::BoxError;

use crate::agent::{AgentState, Printer};
use crate::error::BuildError;
use crate::hook::{AgentHook, HookList};
use crate::identity::{User, Users, shared_users};
use crate::message::Msg;
use crate::model::{ChatModel, ModelOptions, ToolSpec};
use crate::react::agent::{Core, ReActAgent};
use crate::react::compressor::{CompressContext, ContextConfig};
use crate::react::hook_source::{HookSource, HookSources};
use crate::react::limits::Limits;
use crate::store::{Durability, Store, Unknown};
use crate::thread::{StoreOptions, Threads};
use crate::tool::Tool;

/// Builds a [`ReActAgent`]. Clones of a builder build agents that share the model, the tools and
/// the hooks, and nothing else.
///
/// ```
/// use hooks_agent::model::ScriptedModel;
/// use hooks_agent::react::ReActAgent;
///
/// let agent = ReActAgent::builder("assistant")
///     .system_prompt("Answer in one sentence.")
///     .model(ScriptedModel::new("fixed", |_| "Done."))
///     .max_iters(5)
///     .printer(|text| println!("{text}"))
///     .build()?;
/// # Ok::<(), hooks_agent::error::BuildError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct ReActAgentBuilder {
    name: Arc<str>,
    system_prompt: Option<String>,
    model: Option<Arc<dyn ChatModel>>,
    options: ModelOptions,
    tools: Vec<Arc<dyn Tool>>,
    hooks: HookList,
    sources: HookSources,
    compressor: Option<Arc<dyn CompressContext>>,
    context: ContextConfig,
    limits: Limits,
    max_idle_threads: usize,
    max_iters: usize,
    max_jumps: usize,
    tool_timeout: Option<Duration>,
    runs_tools_at_once: bool,
    recovers_pending: bool,
    is_steered: bool,
    printer: Option<Printer>,
    store: Option<Arc<dyn Store>>,
    store_options: StoreOptions,
    users: Option<Arc<Users>>,
}

impl ReActAgent {
    /// Starts an agent of this name. A model is required; everything else has a default.
    pub fn builder(name: impl Into<Arc<str>>) -> ReActAgentBuilder {
        ReActAgentBuilder {
            name: name.into(),
            system_prompt: None,
            model: None,
            options: ModelOptions::default(),
            tools: Vec::new(),
            hooks: HookList::default(),
            sources: HookSources::new(),
            compressor: None,
            context: ContextConfig::default(),
            limits: Limits::new(),
            max_idle_threads: ReActAgentBuilder::DEFAULT_MAX_IDLE_THREADS,
            max_iters: ReActAgentBuilder::DEFAULT_MAX_ITERS,
            max_jumps: ReActAgentBuilder::DEFAULT_MAX_JUMPS,
            tool_timeout: None,
            runs_tools_at_once: false,
            recovers_pending: false,
            is_steered: false,
            printer: None,
            store: None,
            store_options: StoreOptions::default(),
            users: None,
        }
    }
}

impl ReActAgentBuilder {
    /// The default limit of rounds of a call.
    pub const DEFAULT_MAX_ITERS: usize = 10;

    /// The default limit of jumps in a row.
    pub const DEFAULT_MAX_JUMPS: usize = 3;

    /// The default limit of idle threads.
    pub const DEFAULT_MAX_IDLE_THREADS: usize = Threads::DEFAULT_MAX_IDLE;

    /// Sets the model. Required. An `Arc` or a `Box` of a `dyn ChatModel` is a model too.
    pub fn model(mut self, model: impl ChatModel + 'static) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// Sets the options of the model.
    pub fn model_options(mut self, options: ModelOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the system prompt, which precedes every conversation. A blank text sets none.
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// Adds a tool.
    pub fn tool(self, tool: impl Tool + 'static) -> Self {
        self.shared_tool(Arc::new(tool))
    }

    /// Adds a tool that may be shared with other agents.
    pub fn shared_tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds tools that may be shared with other agents.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Adds a hook. Its tools become tools of the agent. Hooks of the same name are all kept;
    /// [`remove_agent_hook`](ReActAgent::remove_agent_hook) removes them together.
    #[track_caller]
    pub fn hook(mut self, hook: impl AgentHook) -> Self {
        self.hooks.add(hook.__share());
        self
    }

    /// Adds a source of hooks, which chooses the hooks of each call when it begins.
    ///
    /// With one, hooks that are registered at the agent while a call runs take effect at the next call.
    pub fn hook_source(mut self, source: impl HookSource) -> Self {
        self.sources.push(Arc::new(source));
        self
    }

    /// Sets the limit of rounds of a call. The default is
    /// [10](ReActAgentBuilder::DEFAULT_MAX_ITERS). A call that reaches it asks the model for a summary.
    pub fn max_iters(mut self, max_iters: usize) -> Self {
        self.max_iters = max_iters;
        self
    }

    /// Sets how much the agent takes from its model and its tools.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how many [threads](crate::react::Threads) the agent keeps that have no running call and
    /// whose tool calls have results. Beyond that it forgets those that were not used for the
    /// longest time.
    pub fn max_idle_threads(mut self, max_idle_threads: usize) -> Self {
        self.max_idle_threads = max_idle_threads;
        self
    }

    /// Sets where the threads of the agent are kept. Without a store, in the memory of the process.
    ///
    /// The name of the agent is its identity in the store, and its [id](crate::agent::Agent::id): agents
    /// of one name on one store and namespace are one agent, in whatever process they run. A store
    /// outside of the process requires a runtime of tokio: one task for each agent renews the leases of
    /// its calls.
    pub fn store(mut self, store: impl Store) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Sets how the agent finds its users, as [`AgentState::with_users`] says it: what roles and attributes
    /// the user of a call has now.
    ///
    /// ```
    /// use hooks_agent::call::User;
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let who = on(|event: &mut PostCall<'_>| {
    ///     let roles = event.context().identity().map(|user| user.roles().collect::<Vec<_>>().join(", "));
    ///     event.final_message_mut().push_text(&format!(" ({})", roles.unwrap_or_default()));
    /// });
    /// # let model = ScriptedModel::new("fixed", |_| "Done.");
    /// let agent = ReActAgent::builder("clerk")
    ///     .model(model)
    ///     .hook(who)
    ///     .users(async |user: User| Ok(user.with_role("manager")))
    ///     .build()?;
    /// let reply = agent.call_with(CallOptions::new().user("ada"), "Go").await?;
    /// assert_eq!(reply.text(), "Done. (manager)");
    /// // It goes on with the thread of ada, who has the role still.
    /// assert_eq!(agent.resume(CallOptions::new()).await?.text(), "Done. (manager)");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    pub fn users<F>(mut self, users: impl Fn(User) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<User, BoxError>> + Send + 'static,
    {
        self.users = Some(shared_users(users));
        self
    }

    /// Sets how often a call writes to a store outside of the process. Default:
    /// [`Durability::Step`].
    pub fn durability(mut self, durability: Durability) -> Self {
        self.store_options.durability = durability;
        self
    }

    /// Sets what becomes of a tool call whose process ended while the tool ran. Default:
    /// [`Unknown::Refuse`].
    pub fn on_unknown(mut self, unknown: Unknown) -> Self {
        self.store_options.unknown = unknown;
        self
    }

    /// Sets how many times a call may be cut off. Default: 5. One whose process ended as often, also
    /// while it was resumed, is not begun again: the next call on the thread fails with
    /// [`AgentError::SetAside`](crate::error::AgentError::SetAside), and the thread goes on without the
    /// messages of the call, which stay in the history of the store.
    ///
    /// Calls are counted where the threads are in a store outside of the process. A
    /// [shutdown](crate::agent::AgentExt::shutdown) is not counted.
    pub fn max_cut_offs(mut self, max_cut_offs: u32) -> Self {
        self.store_options.max_cut_offs = max_cut_offs;
        self
    }

    /// Sets how many times in a row hooks may jump to the model or to the tools. One more jump
    /// fails the call with [`AgentError::TooManyJumps`](crate::error::AgentError::TooManyJumps).
    pub fn max_jumps(mut self, max_jumps: usize) -> Self {
        self.max_jumps = max_jumps;
        self
    }

    /// Sets the timeout of one tool call. A tool call that exceeds it is dropped and fails.
    /// Requires a runtime of tokio with time enabled.
    pub fn tool_timeout(mut self, timeout: Duration) -> Self {
        self.tool_timeout = Some(timeout);
        self
    }

    /// Sets whether the tool calls of one answer run concurrently. The events of one tool call stay
    /// in order, and memory gets the results in the order of the tool calls.
    pub fn parallel_tools(mut self, at_once: bool) -> Self {
        self.runs_tools_at_once = at_once;
        self
    }

    /// Sets whether a call with messages but without results answers the waiting tool calls with an
    /// error. If not, which is the default, such a call fails.
    pub fn recover_pending(mut self, recover: bool) -> Self {
        self.recovers_pending = recover;
        self
    }

    /// Sets whether calls take what users [say while they run](ReActAgent::steer): before the model is asked
    /// after tools, and when an answer is complete. With a store outside of the process, a call then asks it
    /// each time. Default: no. A durable engine gives a call nothing while it runs.
    pub fn steering(mut self, is_steered: bool) -> Self {
        self.is_steered = is_steered;
        self
    }

    /// Sets the compressor of long conversations, and when it runs.
    pub fn compressor(
        mut self,
        compressor: impl CompressContext + 'static,
        config: ContextConfig,
    ) -> Self {
        self.compressor = Some(Arc::new(compressor));
        self.context = config;
        self
    }

    /// Sets the function that prints text. Without one, text is not printed.
    pub fn printer(mut self, printer: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.printer = Some(Arc::new(printer));
        self
    }

    /// Builds the agent.
    ///
    /// # Errors
    /// [`BuildError`] if the model is missing, two tools share a name, two hooks a counter, or hooks cannot run in the
    /// order that they ask for.
    pub fn build(self) -> Result<ReActAgent, BuildError> {
        let Self { name, model, hooks, .. } = self;
        let Some(model) = model else {
            return Err(BuildError::MissingModel { agent: name.to_string() });
        };
        let mut tools = self.tools;
        let own_tools = tools.len();
        tools.extend(hooks.tools());
        refuse_duplicates(&name, &tools)?;
        if let Some((counter, hooks)) = hooks.shared_counter() {
            return Err(BuildError::SharedCounter { agent: name.to_string(), counter, hooks });
        }
        if let Some((hook, why)) = hooks.not_in_shadow() {
            return Err(BuildError::NotInShadow { agent: name.to_string(), hook, why });
        }
        if let Some((hook, why)) = hooks.not_parallel() {
            let (agent, why) = (name.to_string(), why.to_owned());
            return Err(BuildError::NotParallel { agent, hook, why });
        }
        let specs = tools.iter().map(|tool| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema().clone(),
        });
        let system = self.system_prompt.filter(|prompt| !prompt.trim().is_empty());
        let (threads, store) = self.store_options.threads(self.store, &name, self.max_idle_threads);
        let mut context = self.context;
        if self.compressor.is_some() {
            context.window = context.window.or(model.context_window());
        }
        let core = Core {
            state: Arc::new(
                AgentState::new(name).with_threads(threads.clone()).with_shared_users(self.users),
            ),
            threads,
            store,
            system: system.map(|prompt| Arc::new(Msg::system(prompt))),
            model_name: model.name().into(),
            context_window: model.context_window(),
            model,
            options: Arc::new(self.options),
            specs: specs.collect(),
            own_tools,
            tools,
            sources: self.sources,
            compressor: self.compressor,
            context,
            limits: self.limits,
            max_iters: self.max_iters,
            max_jumps: self.max_jumps,
            tool_timeout: self.tool_timeout,
            runs_tools_at_once: self.runs_tools_at_once,
            recovers_pending: self.recovers_pending,
            is_steered: self.is_steered,
            printer: self.printer,
            has_reported: AtomicBool::new(false),
        };
        let agent = ReActAgent::assemble(core, hooks).in_order()?;
        match agent.conflict() {
            None => Ok(agent),
            Some((hook, why)) => {
                Err(BuildError::Conflict { agent: agent.core.state.name().to_owned(), hook, why })
            }
        }
    }
}

fn refuse_duplicates(agent: &str, tools: &[Arc<dyn Tool>]) -> Result<(), BuildError> {
    let mut names = HashSet::new();
    match tools.iter().find(|tool| !names.insert(tool.name())) {
        None => Ok(()),
        Some(tool) => {
            let tool = tool.name().to_owned();
            Err(BuildError::DuplicateTool { agent: agent.to_owned(), tool })
        }
    }
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
