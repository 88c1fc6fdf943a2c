//! A model behind an HTTP API.

use std::fmt;
use std::sync::Arc;

use futures::{TryStreamExt, stream};

use crate::model::genai::connection::Connection;
use crate::model::genai::endpoint::Endpoint;
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
/// Nothing is sent before the first call; an invalid endpoint is an error of that call, and so is
/// a URL with a query. `Debug` and errors print the scheme, host and port of an endpoint only. A [tool
/// choice](crate::ToolChoice) or [format](crate::ResponseFormat) that the provider does not
/// support, or a tool whose name it reserves, fails with [`ModelError::Failed`](crate::ModelError)
/// and a reason that names an alternative. The provider ignores other
/// [options](crate::ModelOptions) that it does not support.
///
/// The crate `genai` reports errors through `tracing` by itself, with the whole body of the
/// provider, which can quote the request. A filter for its target, such as `genai=off`, drops them.
#[derive(Clone)]
pub struct GenAiModel {
    connection: Arc<Connection>,
}

impl GenAiModel {
    /// Creates a model behind an API that is compatible with `OpenAI`'s chat completions.
    ///
    /// `url` is the part before `chat/completions`. A JSON schema is sent as strict: all its
    /// properties become required, and no others are allowed.
    #[must_use]
    pub fn openai_compatible(
        url: impl Into<String>,
        key: impl Into<String>,
        model: impl Into<String>,
    ) -> Self {
        Self::of(Provider::OpenAi, key.into(), model.into()).endpoint(url)
    }

    /// Creates a model of Anthropic.
    ///
    /// Thoughts are sent back with tool results, with their signatures. Seeds are not supported.
    /// The API requires a limit of tokens: without one, the most that the model can write is sent.
    #[must_use]
    pub fn anthropic(key: impl Into<String>, model: impl Into<String>) -> Self {
        Self::of(Provider::Anthropic, key.into(), model.into())
    }

    /// Creates a Gemini model of Google.
    ///
    /// Thoughts are requested only if there is a
    /// [`reasoning_effort`](crate::ModelOptions::reasoning_effort), because models that do not
    /// think refuse the request. Tool calls are sent back with their signatures.
    #[must_use]
    pub fn gemini(key: impl Into<String>, model: impl Into<String>) -> Self {
        Self::of(Provider::Gemini, key.into(), model.into())
    }

    /// Creates a model of Ollama on this machine.
    ///
    /// It cannot be required to call a tool, and a JSON schema cannot be sent:
    /// [`openai_compatible`](Self::openai_compatible) with Ollama's `/v1/` sends one.
    #[must_use]
    pub fn ollama(model: impl Into<String>) -> Self {
        Self::of(Provider::Ollama, String::new(), model.into())
    }

    /// Sets another URL for the provider: the part before `chat/completions`, before `messages` of
    /// Anthropic, before `models/` of Gemini, or before `api/chat` of Ollama.
    #[must_use]
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.connection).endpoint = Endpoint::new(url);
        self
    }

    fn of(provider: Provider, key: String, model: String) -> Self {
        let endpoint = Endpoint::new(provider.endpoint());
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
