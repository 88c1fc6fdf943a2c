//! The hook that picks tools.

use std::fmt;
use std::sync::Arc;

use hooks_core::{HookResult, HookRole};

use crate::context::tool_selector::ask::Chooser;
use crate::context::tool_selector::error::OnSelectionFailure;
use hooks_agent_core::agent_hook;
use hooks_agent_core::event::PreReasoning;
use hooks_agent_core::hook::HookModel;

/// Picks the tools that the model reads in a round, at most a number of them, for agents with many.
///
/// A model chooses by the text of the user's last message, or a search finds the names and descriptions that
/// have its words. In a sub-agent, that message is its task. The choice is kept with the thread and holds until
/// the user writes something else, so the rounds of a call, a call that is resumed and a repeated question
/// have the same tools in the same order, which keeps the prompt cache of the provider.
///
/// These tools stay in any case, and do not count:
///
/// - those of [`always_include`](Self::always_include);
/// - those that the model called in this call, or whose rounds the call resumes;
/// - the one that the [tool choice](hooks_agent_core::model::ToolChoice) of the request names;
/// - those that other hooks bring to the agent or add to the round, such as `write_todos`.
///
/// With no more tools than the limit, nothing happens, and no model is asked.
///
/// | setting | default |
/// |---|---|
/// | [`by_model`](Self::by_model), [`by_search`](Self::by_search) | how tools are chosen, and how many at most |
/// | [`always_include`](Self::always_include) | none |
/// | [`system_prompt`](Self::system_prompt) | an English text |
/// | [`max_retries`](Self::max_retries) | 1 |
/// | [`on_failure`](Self::on_failure) | [`OnSelectionFailure::Error`] |
///
/// The last three are for models. The model is a [`HookModel`]: the stream, the limits and the hooks of the
/// agent do not see it. It reads the message with the changes of hooks that run before, and the list of tools.
/// An answer that names a tool which is not in the list is no choice, as one without a list: the model is
/// asked again, and then [`on_failure`](Self::on_failure) decides; that choice holds for the call. An interrupt
/// ends the call.
///
/// The search compares words in lower case without their endings (of English), parts of names such as
/// `send_mail` and `sendMail`, and pairs of characters in Chinese, Japanese and Korean, and ranks by BM25. A
/// text without words of any tool ("Yes, please") leaves the choice as it is, or begins with the first tools.
///
/// Its priority is 95: after hooks that redact, and before hooks that add tools of their own for a round. It is
/// not inherited.
///
/// ```
/// use hooks_agent::builtin::context::ToolSelector;
/// use hooks_agent::prelude::*;
/// # use serde_json::Value;
///
/// # futures::executor::block_on(async {
/// # let tool = |name: &str, about: &str| FunctionTool::new(name, about, async |_: Value| "done");
/// // A model that answers with the names of its tools.
/// let model = ScriptedModel::new("names", |request| {
///     let names: Vec<_> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
///     names.join(" ")
/// });
/// let agent = ReActAgent::builder("assistant")
///     .model(model)
///     .tool(tool("send_mail", "Sends an e-mail."))
///     .tool(tool("get_weather", "Forecasts the weather of a city."))
///     .tool(tool("read_clock", "Says what time it is."))
///     .hook(ToolSelector::by_search(1).always_include(["read_clock"]))
///     .build()?;
/// assert_eq!(agent.call("Will the weather be good in Rome?").await?.text(), "get_weather read_clock");
/// assert_eq!(agent.call("Then send Ada two mails").await?.text(), "send_mail read_clock");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[doc(alias = "LLMToolSelectorMiddleware")]
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct ToolSelector {
    pub(super) settings: Arc<Settings>,
}

/// How tools are chosen.
#[derive(Clone)]
pub(super) struct Settings {
    /// The model that chooses; without one, a search.
    pub(super) chooser: Option<Chooser>,
    pub(super) most: usize,
    pub(super) always: Vec<String>,
    pub(super) on_failure: OnSelectionFailure,
}

impl ToolSelector {
    /// The priority: after hooks that redact, before hooks that add tools for a round.
    pub const PRIORITY: i32 = 95;

    /// The name of the thread value with the choice.
    pub const THREAD_VALUE: &str = "ToolSelector";

    /// Has this model choose at most `max_tools`: a [`ChatModel`](hooks_agent_core::model::ChatModel), or a [`HookModel`]
    /// with a timeout.
    pub fn by_model(model: impl Into<HookModel>, max_tools: usize) -> Self {
        Self::of(Some(Chooser::new(model.into())), max_tools)
    }

    /// Searches for at most `max_tools` by the words of the message.
    pub fn by_search(max_tools: usize) -> Self {
        Self::of(None, max_tools)
    }

    fn of(chooser: Option<Chooser>, most: usize) -> Self {
        let (always, on_failure) = (Vec::new(), OnSelectionFailure::default());
        Self { settings: Arc::new(Settings { chooser, most, always, on_failure }) }
    }

    /// Keeps these tools in each round. They do not count. A name that the agent does not have fails the call.
    pub fn always_include(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let always = &mut Arc::make_mut(&mut self.settings).always;
        always.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets what the model is asked, in front of the list of tools.
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        if let Some(chooser) = &mut Arc::make_mut(&mut self.settings).chooser {
            chooser.prompt = prompt.into();
        }
        self
    }

    /// Sets how often the model is asked again after an answer that is no choice, or an error that may pass.
    pub fn max_retries(mut self, retries: usize) -> Self {
        if let Some(chooser) = &mut Arc::make_mut(&mut self.settings).chooser {
            chooser.max_retries = retries;
        }
        self
    }

    /// Sets which tools a call has if the model does not choose any. All but
    /// [`OnSelectionFailure::Error`] report the failure through `tracing`.
    pub fn on_failure(mut self, on_failure: OnSelectionFailure) -> Self {
        Arc::make_mut(&mut self.settings).on_failure = on_failure;
        self
    }
}

#[agent_hook(priority = Self::PRIORITY,
    tool_names = |hook: &Self| hook.settings.always.clone(),
    role = self.settings.chooser.as_ref().map(|_| HookRole::Observes)
)]
impl ToolSelector {
    async fn pre_reasoning(&self, event: &mut PreReasoning<'_>) -> HookResult {
        self.select(event).await
    }
}

impl fmt::Debug for ToolSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { chooser, most, always, on_failure } = &*self.settings;
        let model = chooser.as_ref().map(|chooser| chooser.model.name());
        f.debug_struct("ToolSelector")
            .field("model", &model)
            .field("max_tools", most)
            .field("always_include", always)
            .field("on_failure", on_failure)
            .finish()
    }
}
