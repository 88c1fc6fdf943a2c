//! Options of [`ContextEditing`] in policy files.

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::context_editing::{ContextEditing, ContextEditingBuilder};
use hooks_agent_core::hook::DynAgentHook;
use hooks_agent_core::model::ContextSize;

inventory::submit!(RegisteredHook::of::<Options>());

/// Clears old results of tools in long requests.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The size of a request from which on results are cleared.
    trigger: Option<Size>,
    /// The context window of the model in tokens, if the model does not say it.
    window: Option<u64>,
    /// How many of the last results stay.
    keep: Option<usize>,
    /// How many tokens of the last results stay.
    keep_tokens: Option<u64>,
    /// How many tokens are cleared at least.
    clear_at_least: Option<u64>,
    /// Whether arguments of tool calls are cleared too. Default: false.
    clear_tool_inputs: Option<bool>,
    /// The tools whose results stay.
    exclude_tools: Option<Vec<String>>,
    /// What stands in place of a result.
    placeholder: Option<String>,
}

/// A size: one of `{ tokens = 1000 }`, `{ messages = 20 }`, `{ fraction = 0.5 }`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Size {
    Tokens(u64),
    Messages(usize),
    Fraction(f64),
}

impl HookOptions for Options {
    const USE: &'static str = "context_editing";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let hook = ContextEditing::builder();
        let hook = set(hook, self.trigger, |hook, size| hook.trigger(size.into()));
        let hook = set(hook, self.window, ContextEditingBuilder::window);
        let hook = set(hook, self.keep, ContextEditingBuilder::keep);
        let hook = set(hook, self.keep_tokens, ContextEditingBuilder::keep_tokens);
        let hook = set(hook, self.clear_at_least, ContextEditingBuilder::clear_at_least);
        let hook = set(hook, self.clear_tool_inputs, ContextEditingBuilder::clear_tool_inputs);
        let hook = set(hook, self.exclude_tools, ContextEditingBuilder::exclude_tools);
        let hook = set(hook, self.placeholder, ContextEditingBuilder::placeholder);
        Ok(Box::new(hook.build()?))
    }
}

impl From<Size> for ContextSize {
    fn from(size: Size) -> Self {
        match size {
            Size::Tokens(tokens) => Self::Tokens(tokens),
            Size::Messages(messages) => Self::Messages(messages),
            Size::Fraction(fraction) => Self::Fraction(fraction),
        }
    }
}
