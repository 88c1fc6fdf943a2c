//! The hook that clears old results.

use std::sync::Arc;

use hooks_core::HookResult;

use crate::context::context_editing::clear::{Clearing, METADATA_KEY};
use crate::context::context_editing::error::ContextEditingError;
use hooks_agent_core::agent_hook;
use hooks_agent_core::event::{PreReasoning, PreSummary};
use hooks_agent_core::message::{Messages, Msg};
use hooks_agent_core::model::{ContextSize, ToolSpec};

/// Clears old results of tools in requests that are long. Memory, the store and the events of tools keep
/// the results: the model reads a placeholder in their place.
///
/// A request that reaches the trigger loses its results, the oldest first. The last ones and those of
/// excluded tools stay. A tool call and its result stay a pair, in their order. A cleared result has no
/// media and no structured value; a text that is not longer than the placeholder stays as it is. What
/// another such hook cleared in the request counts as cleared.
///
/// | setting | default |
/// |---|---|
/// | [`trigger`](crate::context::ContextEditingBuilder::trigger) | 100,000 tokens |
/// | [`window`](crate::context::ContextEditingBuilder::window) | that of the agent's [model](hooks_agent_core::model::ChatModel::context_window) |
/// | [`keep`](crate::context::ContextEditingBuilder::keep), [`keep_tokens`](crate::context::ContextEditingBuilder::keep_tokens) | the last 3 results |
/// | [`clear_at_least`](crate::context::ContextEditingBuilder::clear_at_least) | 0: all that may be cleared |
/// | [`clear_tool_inputs`](crate::context::ContextEditingBuilder::clear_tool_inputs) | false |
/// | [`exclude_tools`](crate::context::ContextEditingBuilder::exclude_tools) | none |
/// | [`placeholder`](crate::context::ContextEditingBuilder::placeholder) | `[cleared]` |
/// | [`counter`](crate::context::ContextEditingBuilder::counter) | [`TokenCounter::approximate`](hooks_agent_core::model::TokenCounter::approximate) |
///
/// A fraction of an unknown window fails the call. The hook never waits. Its priority is 280: after hooks
/// that add to the request. It is not inherited.
///
/// ```
/// use hooks_agent::builtin::context::ContextEditing;
/// use hooks_agent::model::ContextSize;
/// use hooks_agent::prelude::*;
/// # use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// let editing = ContextEditing::builder().trigger(ContextSize::Tokens(500)).keep(1).build()?;
/// let log = FunctionTool::new("log", "Reads the log.", async |_: Value| "line\n".repeat(300));
/// // `model` calls the tool twice and answers with what it reads of the results.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     let results: Vec<_> = request.messages.iter().flat_map(Msg::tool_results).collect();
/// #     match &results[..] {
/// #         [first, second] => format!("{} {}", first.output, second.output.as_str().len()).into(),
/// #         all => ToolUse::new(all.len().to_string(), "log", json!({})).into(),
/// #     }
/// # });
/// let agent = ReActAgent::builder("assistant").model(model).tool(log).hook(editing).build()?;
/// assert_eq!(agent.call("What happened?").await?.text(), "[cleared] 1500");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[doc(alias = "ContextEditingMiddleware")]
#[derive(Clone, Debug)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct ContextEditing {
    settings: Arc<Settings>,
}

/// When results are cleared, and which.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) trigger: ContextSize,
    pub(super) window: Option<u64>,
    pub(super) clearing: Clearing,
}

impl ContextEditing {
    /// The priority: after hooks that add to the request.
    pub const PRIORITY: i32 = 280;

    /// The key of the metadata of a message in which something was cleared: `cleared`, `strategy`,
    /// `cleared_tool_inputs` (ids of tool calls) and `saved` (tokens).
    pub const METADATA_KEY: &str = METADATA_KEY;

    pub(super) fn of(settings: Settings) -> Self {
        Self { settings: Arc::new(settings) }
    }

    /// Returns whether a request reaches the trigger and has results to clear.
    fn is_due(
        &self,
        system: Option<&Msg>,
        tools: &[ToolSpec],
        messages: &Messages,
        window: Option<u64>,
    ) -> Result<bool, ContextEditingError> {
        let Settings { trigger, clearing, .. } = &*self.settings;
        let window = self.settings.window.or(window);
        let size = trigger.tokens(window)?;
        if !clearing.has_more(messages) {
            return Ok(false);
        }
        Ok(match size {
            None => trigger.is_reached(messages, &clearing.counter, window)?,
            Some(tokens) => {
                let counter = &clearing.counter;
                let fixed = counter.count(system) + counter.count_tools(tools);
                fixed + counter.count(messages) >= tokens
            }
        })
    }
}

#[agent_hook(priority = Self::PRIORITY,
    tool_names = |hook: &Self| hook.settings.clearing.excluded.clone()
)]
impl ContextEditing {
    fn pre_reasoning(&self, event: &mut PreReasoning<'_>) -> HookResult {
        let (system, window) = (event.system_message(), event.context_window());
        if self.is_due(system, event.tools(), event.messages(), window)? {
            self.settings.clearing.clear(event.messages_mut());
        }
        Ok(())
    }

    fn pre_summary(&self, event: &mut PreSummary<'_>) -> HookResult {
        let (system, window) = (event.system_message(), event.context_window());
        if self.is_due(system, &[], event.messages(), window)? {
            self.settings.clearing.clear(event.messages_mut());
        }
        Ok(())
    }
}
