//! The hook that ends calls which go in circles.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use hooks_core::HookRole;

use crate::limit::exit::Exit;
use crate::limit::loop_detection::rounds::{Circle, Rounds};
use hooks_agent_core::agent_hook;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::{AgentHook, ModelCall, NextModel};
use hooks_agent_core::message::{GenerateReason, Msg};
use hooks_agent_core::model::ModelAnswer;
use hooks_agent_core::tool::Effect;

/// Notices a call that goes in circles: first it tells the model, and if the call goes on so, it ends it.
///
/// A call goes in circles if
///
/// - the same tool call comes again with the same result, or
/// - up to four answers take turns, with the same tool calls and results, or
/// - no tool says anything new for some rounds: a result says nothing new if an earlier one of the tool said the
///   same beside the words of its arguments, such as "no results on page 7" after "no results on page 6".
///   This counts for errors, for empty results, and for tools that [read](Effect::Reads): what changes
///   something has done something, whatever it says.
///
/// Arguments are compared whatever the order of their keys, the case and the blanks of their texts, and how their
/// numbers are written; results as they are. What counts is what was called since the user last said
/// something, also before the call was resumed. Of tools that are asked again until something has happened, say so
/// by [`polling`](Self::polling): they never count.
///
/// | setting | default |
/// |---|---|
/// | [`repeats`](Self::repeats): repeats in a row, until the model reads a note, and until the call ends | 3, 6 |
/// | [`rounds`](Self::rounds): rounds in a row without news, until the model reads a note, and until the call ends | 5, 8 |
/// | [`polling`](Self::polling) | no tools |
/// | [`exit`](Self::exit) | [`Exit::End`]: the reply says why |
///
/// The note to the model is a message at the end of the request, and not in memory. It runs at priority 210, and
/// in sub-agents, each of which is looked at by itself.
///
/// It protects from a model that does not notice that it repeats itself. It does not notice that different
/// calls with different results lead nowhere: limit these by [`ModelCallLimit`](crate::limit::ModelCallLimit) and
/// [`Budget`](crate::limit::Budget).
///
/// # Errors
/// [`LoopDetected`] with [`Exit::Error`].
///
/// ```
/// use hooks_agent::builtin::limit::LoopDetection;
/// use hooks_agent::message::GenerateReason;
/// use hooks_agent::prelude::*;
/// use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// // A model that searches again and again.
/// let model = ScriptedModel::new("stubborn", |_| ToolUse::new("1", "search", json!({ "q": "x" })));
/// let search = FunctionTool::new("search", "Searches.", async |_: Value| "nothing");
/// let builder = ReActAgent::builder("bot").model(model).tool(search);
/// let agent = builder.hook(LoopDetection::new()).build()?;
/// let reply = agent.call("Find it").await?;
/// assert_eq!(reply.reason, Some(GenerateReason::LimitReached));
/// assert_eq!(
///     reply.text(),
///     "The call was ended because it went in circles: `search` was called 6 times with the same \
///      arguments and the same result."
/// );
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct LoopDetection {
    repeats: (usize, usize),
    rounds: (usize, usize),
    polling: Arc<BTreeSet<String>>,
    fails: bool,
}

impl Default for LoopDetection {
    fn default() -> Self {
        Self::new()
    }
}

impl LoopDetection {
    /// The default priority: after other limits.
    pub const PRIORITY: i32 = 210;

    /// Creates a hook with the defaults.
    pub fn new() -> Self {
        Self { repeats: (3, 6), rounds: (5, 8), polling: Arc::default(), fails: false }
    }

    /// Sets after how many repeats in a row the model reads a note, and after how many the call ends. Both are at
    /// least 2. Without a note, the call ends at once: set `end` to no more than `note`.
    pub fn repeats(mut self, note: usize, end: usize) -> Self {
        self.repeats = (note.max(2), end.max(2));
        self
    }

    /// Sets after how many rounds in a row without news the model reads a note, and after how many the call ends. Both
    /// are at least 2.
    pub fn rounds(mut self, note: usize, end: usize) -> Self {
        self.rounds = (note.max(2), end.max(2));
        self
    }

    /// Names tools that are called again until something has happened, such as the state of a job.
    pub fn polling(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Arc::make_mut(&mut self.polling).extend(tools.into_iter().map(Into::into));
        self
    }

    /// Sets how the call ends: [`Exit::Error`] fails it, and everything else ends it with a reply that says why.
    pub fn exit(mut self, exit: Exit) -> Self {
        self.fails = exit == Exit::Error;
        self
    }

    fn rounds_of(&self, call: &ModelCall<'_>) -> Option<Rounds> {
        let memory = call.context().memory()?;
        let agent = call.agent();
        let reads =
            |tool: &str| agent.find_tool(tool).is_some_and(|it| it.known_effect() == Effect::Reads);
        Some(Rounds::of(&memory.messages(), &self.polling, reads))
    }
}

#[agent_hook(
    priority = Self::PRIORITY,
    role = HookRole::Limits,
    inherit,
    always,
    tool_names = |hook: &Self| hook.polling.iter().cloned().collect()
)]
impl LoopDetection {
    async fn around_model_call(
        &self,
        mut call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let Some(rounds) = self.rounds_of(&call) else {
            return next.run(call.into_request()).await;
        };
        if let Some(circle) = rounds.circle(self.repeats.1, self.rounds.1) {
            let detected = LoopDetected { circle };
            tracing::warn!(
                target: "hooks_agent::builtin::limit",
                agent = call.context().agent_name(), "{detected}"
            );
            if self.fails {
                return Err(next.fail(detected));
            }
            let text = format!("The call was ended because it went in circles: {detected}.");
            return Ok(ModelAnswer::in_place(self.name(), text, GenerateReason::LimitReached));
        }
        if let Some(circle) = rounds.circle(self.repeats.0, self.rounds.0) {
            let note = format!(
                "[Note: {}. The same again will not give more: try something else, or answer with what you \
                 have.]",
                circle.text()
            );
            call.request_mut().messages.push(Msg::user(note));
        }
        next.run(call.into_request()).await
    }
}

/// The error of a call that went in circles, with [`Exit::Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopDetected {
    circle: Circle,
}

/// Writes how it went in circles.
impl fmt::Display for LoopDetected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.circle.text())
    }
}

impl std::error::Error for LoopDetected {}
