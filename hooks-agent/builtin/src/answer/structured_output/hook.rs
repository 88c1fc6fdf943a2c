//! The hook that holds answers to a schema.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hooks_core::{HookResult, HookRole};

use crate::answer::structured_output::ask::answer_as_text;
use crate::answer::structured_output::error::StructuredOutputError;
use crate::answer::structured_output::mode::Mode;
use crate::answer::structured_output::schema::answer_schema::AnswerSchema;
use crate::answer::structured_output::settings::Settings;
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{Flow, PostReasoning, PreCall, PreReasoning};
use hooks_agent_core::hook::{AroundMask, ModelCall, NextModel};
use hooks_agent_core::message::{ContentBlock, Msg};
use hooks_agent_core::model::ModelAnswer;

/// Holds the answers of an agent to a schema: the text of each reply is JSON that fits.
///
/// For one call, [`call_typed`](crate::answer::TypedCalls::call_typed) adds it and reads the
/// value. Added to an agent, it applies to every call, and [`typed`](Self::typed) reads a reply. An
/// agent has at most one: a hook of the same name replaces it.
///
/// The hook asks for the schema before each round, by the [`Mode`]. An answer without tool calls is
/// final: it is checked by the schema, and if there is a type, by its `Deserialize`. An answer that fits
/// becomes its JSON, without the words or the fence around it. One that does not fit stays in memory,
/// followed by a message that names the fields and what was expected, and the model answers again.
/// Rounds with tools are not affected.
///
/// | setting | default |
/// |---|---|
/// | [`mode`](crate::answer::StructuredOutputBuilder::mode) | by the format in a round without tools whose schema providers hold a model to, else by a tool |
/// | [`retries`](crate::answer::StructuredOutputBuilder::retries) | 3; a call that resumes goes on with the count |
/// | [`tool_name`](crate::answer::StructuredOutputBuilder::tool_name) | `final_answer` |
///
/// # Order
/// The priority is [`PRIORITY`](Self::PRIORITY): after hooks of
/// [`priority::SECURITY`](hooks_agent_core::hook::priority::SECURITY). What a redactor removed is neither checked
/// nor quoted; if the answer no longer fits without it, it goes back to the model. Its role is
/// [`Observes`](HookRole::Observes), so that a plan warns if a redactor comes later. Around the model call
/// that is inside of redactors and outside of retries, fallbacks and limits. It is not inherited: a
/// sub-agent answers its caller in words.
///
/// # Errors
/// [`StructuredOutputError::Mismatch`] fails the call after the last retry, and memory does not keep that
/// last answer. [`StructuredOutputError::ToolExists`] if a tool has the name of the tool that takes the
/// answer. A call that ends for another reason than [`ModelStop`](hooks_agent_core::message::GenerateReason::ModelStop)
/// is not forced into the schema: a limit, a stop, a question, an interrupt, a summary after the last
/// round, an answer that is cut.
///
/// It does not protect from an answer that fits and is wrong.
///
/// ```
/// use hooks_agent::builtin::answer::StructuredOutput;
/// use hooks_agent::prelude::*;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Invoice {
///     total: f64,
/// }
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("script", |request| match request.last_text().as_str() {
///     "What do I pay?" => r#"{"total": "twelve"}"#,
///     // Your answer does not fit `Invoice`: `total`: a number is expected ..
///     _ => r#"{"total": 12}"#,
/// });
/// let output = StructuredOutput::of::<Invoice>().build()?;
/// let agent = ReActAgent::builder("clerk").model(model).hook(output.clone()).build()?;
/// let reply = agent.call("What do I pay?").await?;
/// assert_eq!(reply.text(), r#"{"total": 12}"#);
/// assert_eq!(output.typed::<Invoice>(reply)?.total, 12.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct StructuredOutput {
    settings: Arc<Settings>,
}

/// What the hook keeps of a call.
#[derive(Default)]
struct Round {
    /// Whether the model may call the tool that takes the answer.
    offers_tool: AtomicBool,
    /// Whether an answer of the run did not fit.
    has_failed: AtomicBool,
}

impl StructuredOutput {
    /// The default priority: after hooks that redact.
    pub const PRIORITY: i32 = 110;

    /// The default name of the tool that takes the answer.
    pub const TOOL_NAME: &'static str = "final_answer";

    /// The key in the metadata of a message that sends an answer back. Its value is the name of the
    /// schema.
    pub const METADATA_KEY: &'static str = "structured_output";

    pub(super) fn new(settings: Settings) -> Self {
        Self { settings: Arc::new(settings) }
    }

    pub(super) fn schema(&self) -> &Arc<AnswerSchema> {
        &self.settings.schema
    }

    fn round(&self, cx: &CallContext) -> Arc<Round> {
        cx.hook_state(Arc::as_ptr(&self.settings).addr())
    }

    /// Checks an answer, if it is final.
    fn check(&self, event: &mut PostReasoning<'_>) -> HookResult<Flow> {
        let (control, message) = (event.control(), event.message());
        let is_decided =
            control.is_stopped() || control.jumps_to().is_some() || control.asks_permission();
        let is_final = message.tool_uses().next().is_none() && message.reason.is_none();
        let round = self.round(event.context());
        let by_tool = round.offers_tool.swap(false, Ordering::Relaxed);
        if is_decided || !is_final || event.finish_reason().is_cut() {
            return Ok(Flow::Continue);
        }
        let Settings { schema, retries, failures, .. } = &*self.settings;
        let text = message.text();
        match schema.read(&text) {
            Ok(answer) => {
                if text != answer.json {
                    set_text(event.message_mut(), answer.json);
                }
                if round.has_failed.swap(false, Ordering::Relaxed) {
                    failures.end(event.context())?;
                }
                Ok(Flow::Continue)
            }
            Err(problems) => {
                let attempts = failures.add(event.context())?;
                round.has_failed.store(true, Ordering::Relaxed);
                let name = schema.name.clone();
                if attempts > *retries {
                    failures.end(event.context())?;
                    let error = StructuredOutputError::Mismatch { name, attempts, problems };
                    return Err(error.into());
                }
                let correction = Msg::user(self.settings.correction(&problems, by_tool));
                Ok(event.jump_to_model(correction.with_metadata(Self::METADATA_KEY, name))?)
            }
        }
    }
}

#[agent_hook(priority = Self::PRIORITY,
    // What it quotes goes to the model and into errors.
    role = HookRole::Observes,
    around = self.around_of(),
    answers_around = AroundMask::NONE,
    not_in_shadow = |_: &Self| Some("the program reads the value that it makes".to_owned())
)]
impl StructuredOutput {
    fn pre_call(&self, event: &mut PreCall<'_>) -> HookResult {
        let has_failed = self.settings.failures.begin(event)?;
        self.round(event.context()).has_failed.store(has_failed, Ordering::Relaxed);
        Ok(())
    }

    fn pre_reasoning(&self, event: &mut PreReasoning<'_>) -> HookResult {
        let mode = self.settings.ask(event)?;
        let round = self.round(event.context());
        round.offers_tool.store(mode == Mode::Tool, Ordering::Relaxed);
        Ok(())
    }

    fn post_reasoning(&self, event: &mut PostReasoning<'_>) -> HookResult<Flow> {
        self.check(event)
    }

    async fn around_model_call(
        &self,
        mut call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let tool = self.settings.tool_name.clone();
        if !self.round(call.context()).offers_tool.load(Ordering::Relaxed) {
            return next.run(call.into_request()).await;
        }
        // A hook that selects tools may have dropped it.
        let tools = &mut call.request_mut().tools;
        if tools.iter().all(|known| known.name != tool) {
            *tools = tools.iter().cloned().chain([self.settings.tool()]).collect();
        }
        let answer = next.run(call.into_request()).await?;
        Ok(answer.map_stream(|chunks| answer_as_text(chunks, tool)))
    }

    fn around_of(&self) -> AroundMask {
        match self.settings.mode {
            None | Some(Mode::Tool) => AroundMask::MODEL_CALL,
            Some(Mode::Format | Mode::Prompt) => AroundMask::NONE,
        }
    }
}

/// Replaces the text of a message; other blocks stay.
fn set_text(msg: &mut Msg, text: String) {
    let mut text = Some(text);
    msg.content.retain_mut(|block| match block {
        ContentBlock::Text { text: old } => match text.take() {
            Some(text) => {
                *old = text;
                true
            }
            None => false,
        },
        _ => true,
    });
}
