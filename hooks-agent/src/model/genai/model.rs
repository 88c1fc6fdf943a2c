//! A model behind an HTTP API.

use std::fmt;
use std::sync::Arc;

use futures::{TryStreamExt, stream};

use crate::model::genai::connection::Connection;
use crate::model::genai::provider::Provider;
use crate::model::{ChatModel, ChatRequest, ChatStream};

/// A model behind an HTTP API.
///
/// ```no_run
/// use hooks_agent::{GenAiModel, ReActAgent};
///
/// let key = std::env::var("OPENAI_API_KEY")?;
/// let model = GenAiModel::openai_compatible("https://api.openai.com/v1/", key, "gpt-5-mini");
/// let agent = ReActAgent::builder("assistant").model(model).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Nothing is sent before the first call; an endpoint that cannot be right is an error of it. A
/// [tool choice](crate::ToolChoice) or a [form](crate::ResponseFormat) that cannot be sent, or a
/// tool whose name the provider keeps for itself, is [`ModelError::Failed`](crate::ModelError) with
/// a reason that says what to do instead. Of the other [options](crate::ModelOptions), a provider
/// ignores those that it does not have.
#[derive(Clone)]
pub struct GenAiModel {
    connection: Arc<Connection>,
}

impl GenAiModel {
    /// A model behind an API of the shape of `OpenAI`'s chat completions.
    ///
    /// `url` is what stands before `chat/completions`. A JSON schema is sent as a strict one: all
    /// its properties become required, and no others are allowed.
    #[must_use]
    pub fn openai_compatible(
        url: impl Into<String>,
        key: impl Into<String>,
        model: impl Into<String>,
    ) -> Self {
        Self::of(Provider::OpenAi, key.into(), model.into()).endpoint(url)
    }

    /// A model of Anthropic.
    ///
    /// Its thoughts are sent back with the results of tools, signed as they came. There is no seed.
    /// A limit of tokens is required: without one it is the most that the model can write.
    #[must_use]
    pub fn anthropic(key: impl Into<String>, model: impl Into<String>) -> Self {
        Self::of(Provider::Anthropic, key.into(), model.into())
    }

    /// A Gemini model of Google.
    ///
    /// Its thoughts are asked for when there is a
    /// [`reasoning_effort`](crate::ModelOptions::reasoning_effort): models that do not think refuse
    /// the question. Tool calls go back with the signatures they came with.
    #[must_use]
    pub fn gemini(key: impl Into<String>, model: impl Into<String>) -> Self {
        Self::of(Provider::Gemini, key.into(), model.into())
    }

    /// A model of an Ollama on this machine.
    ///
    /// It cannot be made to call a tool, and a JSON schema cannot be sent:
    /// [`openai_compatible`](Self::openai_compatible) with Ollama's `/v1/` sends one.
    #[must_use]
    pub fn ollama(model: impl Into<String>) -> Self {
        Self::of(Provider::Ollama, String::new(), model.into())
    }

    /// Looks for the provider at another URL: what stands before `chat/completions`, `messages` of
    /// Anthropic, `models/` of Gemini, or `api/chat` of Ollama.
    #[must_use]
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        let mut endpoint = url.into();
        if !endpoint.ends_with('/') {
            endpoint.push('/');
        }
        Arc::make_mut(&mut self.connection).endpoint = endpoint;
        self
    }

    fn of(provider: Provider, key: String, model: String) -> Self {
        let endpoint = provider.endpoint().to_owned();
        Self { connection: Arc::new(Connection { provider, endpoint, key, model }) }
    }
}

impl fmt::Debug for GenAiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Connection { provider, endpoint, model, key: _ } = &*self.connection;
        f.debug_struct("GenAiModel")
            .field("provider", provider)
            .field("model", model)
            .field("endpoint", endpoint)
            .finish_non_exhaustive()
    }
}

impl ChatModel for GenAiModel {
    fn name(&self) -> &str {
        &self.connection.model
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        let connection = self.connection.clone();
        Box::pin(stream::once(connection.open(request)).try_flatten())
    }
}
