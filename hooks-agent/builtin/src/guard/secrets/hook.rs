//! The hook that keeps keys, tokens and passwords from models, memory and logs.

use hooks_agent_core::__forward_hook as forward_hook;

use crate::guard::pii::{PiiAllowed, PiiFormat, PiiHashKey, PiiRegister, PiiStrategy};
use crate::guard::pii_detection::PiiDetection;
use crate::guard::secrets::scanner::SecretScanner;
use hooks_agent_core::hook::AgentHook;

/// Finds keys, tokens and passwords in all that an agent is given, says and does, and replaces or blocks them.
///
/// | setting | default | |
/// |---|---|---|
/// | [`of`](Secrets::of) | all kinds | what is found |
/// | [`allow`](Secrets::allow) | nothing | what is found and left as it is |
/// | [`strategy`](Secrets::strategy) | `Redact` | redact, mask, hash or block |
/// | [`format`](Secrets::format) | `Keyed` | the form of tokens, masks and hashes |
/// | [`hash_key`](Secrets::hash_key) | random | the key of hashes |
/// | [`register`](Secrets::register) | none | what counts what is found, without the values |
/// | [`input`](Secrets::input) | yes | texts of the user |
/// | [`output`](Secrets::output) | yes | texts and thoughts of the model, also while they stream |
/// | [`tool_results`](Secrets::tool_results) | yes | results, errors and progress of tools |
/// | [`tool_arguments`](Secrets::tool_arguments) | yes | arguments of tool calls |
///
/// [`SecretScanner`] says what is found. Texts are rewritten where and when [`PiiDetection`] does it: before
/// memory, stream, logs and the next request; what it says of several hooks, of nested calls and of texts that are
/// blocked is true here. A tool does not get a key that a user or the model writes: give it keys by
/// [`ToolParams`](crate::guard::ToolParams), which the model never sees.
///
/// It knows no secret without a form or a name: `hunter2` in a sentence of its own is a word.
///
/// ```
/// use hooks_agent::builtin::guard::Secrets;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("echo", |request| request.last_text());
/// let agent = ReActAgent::builder("assistant").model(model).hook(Secrets::new()).build()?;
/// let reply = agent.call("It fails: postgres://app:k3Yq-9z@db/shop").await?;
/// assert_eq!(reply.text(), "It fails: postgres://app:[REDACTED_URL_PASSWORD]@db/shop");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Secrets(PiiDetection);

impl Secrets {
    /// Finds secrets of all kinds.
    pub fn new() -> Self {
        Self::of(SecretScanner::new())
    }

    /// Finds what a scanner finds.
    ///
    /// ```
    /// use hooks_agent::builtin::guard::{SecretScanner, Secrets};
    ///
    /// let hook = Secrets::of(SecretScanner::new().without(["password"])?);
    /// # let _ = hook;
    /// # Ok::<(), hooks_agent::builtin::guard::UnknownSecret>(())
    /// ```
    pub fn of(scanner: SecretScanner) -> Self {
        Self(PiiDetection::custom("secrets", scanner).everywhere())
    }

    /// Sets what is found and left as it is, such as a key of a sandbox.
    pub fn allow(self, allowed: PiiAllowed) -> Self {
        Self(self.0.allow(allowed))
    }

    /// Sets what happens to what is found.
    pub fn strategy(self, strategy: PiiStrategy) -> Self {
        Self(self.0.strategy(strategy))
    }

    /// Counts what is found in this register.
    pub fn register(self, register: &PiiRegister) -> Self {
        Self(self.0.register(register))
    }

    /// Sets the key of hashes, so that they are the same in every process.
    pub fn hash_key(self, key: PiiHashKey) -> Self {
        Self(self.0.hash_key(key))
    }

    /// Sets the form of tokens, masks and hashes.
    pub fn format(self, format: PiiFormat) -> Self {
        Self(self.0.format(format))
    }

    /// Sets whether texts of the user are searched.
    pub fn input(self, search: bool) -> Self {
        Self(self.0.input(search))
    }

    /// Sets whether texts and thoughts of the model are searched.
    pub fn output(self, search: bool) -> Self {
        Self(self.0.output(search))
    }

    /// Sets whether results, errors and progress of tools are searched.
    pub fn tool_results(self, search: bool) -> Self {
        Self(self.0.tool_results(search))
    }

    /// Sets whether arguments of tool calls are searched.
    pub fn tool_arguments(self, search: bool) -> Self {
        Self(self.0.tool_arguments(search))
    }
}

impl Default for Secrets {
    fn default() -> Self {
        Self::new()
    }
}

impl AgentHook for Secrets {
    forward_hook! {
        self => AgentHook, &self.0;
        priority events sync_events around inherit always role foreign_guard on_event_now around_model_call
        around_tool_call
    }

    fn name(&self) -> String {
        "Secrets".to_owned()
    }
}
