//! Calls with a typed answer.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::answer::structured_output::error::StructuredOutputError;
use crate::answer::structured_output::hook::StructuredOutput;
use crate::answer::structured_output::schema::answer_schema::typed;
use crate::answer::structured_output::typed::stream::TypedStream;
use crate::answer::structured_output::typed::value::Typed;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::message::{GenerateReason, Messages, Msg};
use hooks_agent_core::react::ReActAgent;

/// Calls with a typed answer, of every [`ReActAgent`]. Its hooks are those of the agent and a
/// [`StructuredOutput`] of this call alone: calls of the agent for other types, and for text, may run at
/// the same time.
///
/// ```
/// use hooks_agent::builtin::answer::TypedCalls;
/// use hooks_agent::prelude::*;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Invoice {
///     number: u32,
///     total: f64,
/// }
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("script", |_| r#"{"number": 7, "total": 12.5}"#);
/// let agent = ReActAgent::builder("clerk").model(model).build()?;
/// let invoice = agent.call_typed::<Invoice>("Read this invoice: ..").await?;
/// assert_eq!((invoice.number, invoice.total), (7, 12.5));
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub trait TypedCalls {
    /// Answers messages with a value of a type.
    ///
    /// # Errors
    /// Those of [`StructuredOutput::call`].
    fn call_typed<T: DeserializeOwned + JsonSchema>(
        &self,
        messages: impl Into<Messages>,
    ) -> impl Future<Output = Result<Typed<T>, StructuredOutputError>> + Send {
        self.call_typed_with(CallOptions::new(), messages)
    }

    /// Answers messages with a value of a type. Without messages, it resumes the thread.
    ///
    /// # Errors
    /// Those of [`StructuredOutput::call`].
    fn call_typed_with<T: DeserializeOwned + JsonSchema>(
        &self,
        options: CallOptions,
        messages: impl Into<Messages>,
    ) -> impl Future<Output = Result<Typed<T>, StructuredOutputError>> + Send;

    /// Answers messages with a value of a type, as a stream of what has arrived of it.
    fn stream_typed<T: DeserializeOwned + JsonSchema>(
        &self,
        messages: impl Into<Messages>,
    ) -> TypedStream<T> {
        self.stream_typed_with(CallOptions::new(), messages)
    }

    /// Answers messages like [`call_typed_with`](Self::call_typed_with), as a stream of what has arrived
    /// of the value.
    fn stream_typed_with<T: DeserializeOwned + JsonSchema>(
        &self,
        options: CallOptions,
        messages: impl Into<Messages>,
    ) -> TypedStream<T>;
}

impl TypedCalls for ReActAgent {
    fn call_typed_with<T: DeserializeOwned + JsonSchema>(
        &self,
        options: CallOptions,
        messages: impl Into<Messages>,
    ) -> impl Future<Output = Result<Typed<T>, StructuredOutputError>> + Send {
        let (output, messages) = (StructuredOutput::of::<T>().build(), messages.into());
        async move { output?.call(self, options, messages).await }
    }

    fn stream_typed_with<T: DeserializeOwned + JsonSchema>(
        &self,
        options: CallOptions,
        messages: impl Into<Messages>,
    ) -> TypedStream<T> {
        match StructuredOutput::of::<T>().build() {
            Ok(output) => output.stream(self, options, messages),
            Err(error) => TypedStream::failed(error),
        }
    }
}

impl StructuredOutput {
    /// Calls an agent with this hook, in addition to its own, and reads the reply as `T`.
    ///
    /// ```
    /// use hooks_agent::builtin::answer::{Mode, StructuredOutput};
    /// use hooks_agent::prelude::*;
    /// use serde_json::json;
    ///
    /// # futures::executor::block_on(async {
    /// let model = ScriptedModel::new("script", |_| "It is `42`: ```json\n[42]\n```");
    /// let agent = ReActAgent::builder("clerk").model(model).build()?;
    /// let schema = json!({ "type": "array", "items": { "type": "integer" } });
    /// let output = StructuredOutput::with_schema("Numbers", schema).mode(Mode::Prompt).build()?;
    /// let numbers = output.call::<Vec<u32>>(&agent, CallOptions::new(), "Which number?").await?;
    /// assert_eq!(numbers.value, [42]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`StructuredOutputError::Mismatch`] if no answer fits, [`NoAnswer`](StructuredOutputError::NoAnswer)
    /// if the call ends before the model finished, [`Changed`](StructuredOutputError::Changed) if a later
    /// hook changed the reply, [`Agent`](StructuredOutputError::Agent) if the call fails.
    pub async fn call<T: DeserializeOwned>(
        &self,
        agent: &ReActAgent,
        options: CallOptions,
        messages: impl Into<Messages> + Send,
    ) -> Result<Typed<T>, StructuredOutputError> {
        let agent = Arc::new(agent.with_agent_hook(self.clone()));
        let reply = agent.call_owned(options, messages.into()).await?;
        self.typed(reply)
    }

    /// Calls an agent like [`call`](Self::call), as a stream of what has arrived of the value.
    pub fn stream<T: DeserializeOwned>(
        &self,
        agent: &ReActAgent,
        options: CallOptions,
        messages: impl Into<Messages>,
    ) -> TypedStream<T> {
        let agent = Arc::new(agent.with_agent_hook(self.clone()));
        TypedStream::new(self.clone(), agent.stream_owned(options, messages))
    }

    /// Reads the reply of an agent that has this hook.
    ///
    /// # Errors
    /// [`NoAnswer`](StructuredOutputError::NoAnswer) if the call ended before the model finished,
    /// [`Changed`](StructuredOutputError::Changed) if the reply is not a `T` of the schema.
    pub fn typed<T: DeserializeOwned>(
        &self,
        reply: Msg,
    ) -> Result<Typed<T>, StructuredOutputError> {
        let name = || self.schema().name.clone();
        let reason = reply.reason.unwrap_or(GenerateReason::HookAnswered);
        if reason != GenerateReason::ModelStop {
            let reply = Box::new(reply);
            return Err(StructuredOutputError::NoAnswer { name: name(), reason, reply });
        }
        let answer = self.schema().read(&reply.text());
        let value = answer.and_then(|it| typed(&it.value).map_err(|problem| vec![problem]));
        match value {
            Ok(value) => Ok(Typed::new(value, reply)),
            Err(problems) => {
                let reply = Box::new(reply);
                Err(StructuredOutputError::Changed { name: name(), problems, reply })
            }
        }
    }
}
