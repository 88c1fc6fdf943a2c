//! A model behind an HTTP API.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::{TryStreamExt, stream};
use hooks_agent_core::model::{ChatModel, ChatRequest, ChatStream, known_context_window};

use crate::genai::client::{ClientOptions, Proxy};
use crate::genai::connection::Connection;
use crate::genai::endpoint::Endpoint;
use crate::genai::provider::Provider;

/// A model behind an HTTP API.
///
/// ```no_run
/// use hooks_agent::model::GenAiModel;
/// use hooks_agent::react::ReActAgent;
///
/// let key = std::env::var("OPENAI_API_KEY")?;
/// let model = GenAiModel::openai_compatible("https://api.openai.com/v1/", key, "gpt-5-mini");
/// let agent = ReActAgent::builder("assistant").model(model).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Nothing is sent before the first call; an invalid endpoint, proxy or header is an error of that
/// call, and so is a URL with a query. `Debug` and errors print the scheme, host and port of an
/// endpoint or a proxy only, and no value of a header. A redirect is followed within the same
/// scheme, host and port if its status is 307 or 308, which keep the request. All calls of a model
/// and its clones share one HTTP client and its connections; a builder method gives the model a
/// client of its own. A
/// [tool choice](hooks_agent_core::model::ToolChoice) or [format](hooks_agent_core::model::ResponseFormat) that the
/// provider does not support, or a tool whose name it reserves, fails with
/// [`ModelError::Failed`](hooks_agent_core::model::ModelError) and a reason that names an alternative. The
/// provider ignores other [options](hooks_agent_core::model::ModelOptions) that it does not support.
///
/// # Images, audio and files
///
/// A message of the user and the output of a tool can have [`Media`](hooks_agent_core::message::Media), with
/// these sources:
///
/// | provider | image | audio | PDF | text file | video | other file |
/// |---|---|---|---|---|---|---|
/// | `OpenAI` | data, URL | data | data | data | data, URL | data |
/// | Anthropic | data, URL | - | data, URL | data | - | - |
/// | Gemini | data, URL | data, URL | data, URL | data, URL | data, URL | data, URL |
/// | Ollama | data | - | - | - | - | - |
///
/// What the table does not have, data that is not base64 with padding, and media in other messages
/// fail with [`ModelError::Failed`](hooks_agent_core::model::ModelError::Failed) before anything is sent. A
/// model may still refuse what its provider takes; `OpenAI`'s own API reads WAV and MP3 as audio
/// and no videos, which some compatible servers do. The MIME type of a
/// [`File`](hooks_agent_core::message::ContentBlock::File) decides its column. Its name is sent to `OpenAI`
/// and Anthropic.
///
/// Text blocks of the output of a tool are sent as lines after its text. Its media are part of the
/// result at Anthropic. The other providers get them in a message of the user after the results of
/// the same answer, which names the tool and the id of the tool call.
///
/// # Reports
///
/// The crate `genai` reports errors through `tracing` by itself, with the whole body of the
/// provider, which can quote the request. A filter for its target, such as `genai=off`, drops them.
#[derive(Clone)]
pub struct GenAiModel {
    connection: Arc<Connection>,
    window: Option<u64>,
}

impl GenAiModel {
    /// Creates a model behind an API that is compatible with `OpenAI`'s chat completions.
    ///
    /// `url` is the part before `chat/completions`. A JSON schema is sent as strict: all its
    /// properties become required, and no others are allowed. Thoughts are not sent back, unless
    /// [`resend_thoughts`](Self::resend_thoughts) is set.
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
    /// [`reasoning_effort`](hooks_agent_core::model::ModelOptions::reasoning_effort), because models that do
    /// not think refuse the request. Tool calls are sent back with their signatures.
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
        self.changed().endpoint = Endpoint::new(url);
        self
    }

    /// Sets a header of each request, instead of one of the same name, also of one that the model
    /// sends itself, such as `authorization`.
    ///
    /// An error of the provider that quotes the value has `***` instead, except of words of less
    /// than 4 bytes.
    ///
    /// ```
    /// use hooks_agent::model::GenAiModel;
    ///
    /// let model = GenAiModel::anthropic("key", "claude-opus-4-5")
    ///     .endpoint("https://gateway.example.com/anthropic/v1/")
    ///     .header("x-gateway-token", "secret");
    /// assert!(!format!("{model:?}").contains("secret"));
    /// ```
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.changed().options.set_header(name.into(), value.into());
        self
    }

    /// Sets the longest time without a byte from the provider: from the start of a request,
    /// connecting included, to its answer, and between two pieces of the answer. By default 10
    /// minutes. A longer silence fails the call with
    /// [`ModelError::Unreachable`](hooks_agent_core::model::ModelError::Unreachable).
    ///
    /// It does not limit the time of a whole answer that keeps arriving.
    #[must_use]
    pub fn read_timeout(mut self, timeout: Duration) -> Self {
        self.changed().options.read_timeout = timeout;
        self
    }

    /// Sets the longest time to connect: to resolve the name, to open the connection and to agree
    /// on its encryption. By default 30 seconds. A longer time fails the call with
    /// [`ModelError::Unreachable`](hooks_agent_core::model::ModelError::Unreachable).
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.changed().options.connect_timeout = timeout;
        self
    }

    /// Sets the proxy of all requests, also of those to this machine. Its URL starts with `http` or
    /// `https` and may have a user and a password.
    ///
    /// By default, the environment names the proxy, in `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY`
    /// and `NO_PROXY`, and an `http` endpoint on this machine has none.
    ///
    /// ```
    /// use hooks_agent::model::GenAiModel;
    ///
    /// let proxy = "http://user:secret@proxy:3128";
    /// let model = GenAiModel::gemini("key", "gemini-3-pro").proxy(proxy);
    /// assert!(!format!("{model:?}").contains("secret"));
    /// ```
    #[must_use]
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.changed().options.proxy = Proxy::At(Endpoint::new(url));
        self
    }

    /// Uses no proxy, also if the environment names one.
    #[must_use]
    pub fn no_proxy(mut self) -> Self {
        self.changed().options.proxy = Proxy::None;
        self
    }

    /// Sets whether the model's thoughts are sent back with its tool calls, as `reasoning_content`.
    /// By default they are not.
    ///
    /// Some servers that are compatible with `OpenAI`'s require it of models that think, such as
    /// those of `DeepSeek` and Kimi, and refuse a request without it. Others refuse a request with
    /// it. Thoughts with a signature are of another provider and stay out.
    /// Has no effect on other providers.
    ///
    /// ```
    /// use hooks_agent::model::GenAiModel;
    ///
    /// let url = "https://api.deepseek.com/v1/";
    /// let model = GenAiModel::openai_compatible(url, "key", "deepseek-chat");
    /// let model = model.resend_thoughts(true);
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn resend_thoughts(mut self, resend: bool) -> Self {
        self.changed().resends_thoughts = resend;
        self
    }

    /// Sets how many tokens a request and its answer may have together. The default is
    /// [`known_context_window`] of the name; of a model of Ollama it is not known, because the server
    /// sets it.
    ///
    /// ```
    /// use hooks_agent::model::{ChatModel, GenAiModel};
    ///
    /// let model = GenAiModel::ollama("qwen3").with_context_window(32_768);
    /// assert_eq!(model.context_window(), Some(32_768));
    /// ```
    #[must_use]
    pub fn with_context_window(mut self, tokens: u64) -> Self {
        self.window = Some(tokens);
        self
    }

    fn of(provider: Provider, key: String, model: String) -> Self {
        let connection = Connection {
            provider,
            endpoint: Endpoint::new(provider.endpoint()),
            key,
            model,
            resends_thoughts: false,
            options: ClientOptions::default(),
            client: OnceLock::new(),
        };
        let is_local = matches!(provider, Provider::Ollama);
        let window = known_context_window(&connection.model).filter(|_| !is_local);
        Self { connection: Arc::new(connection), window }
    }

    /// Returns the connection to change it. A client that exists may not fit it any more.
    fn changed(&mut self) -> &mut Connection {
        let connection = Arc::make_mut(&mut self.connection);
        connection.client = OnceLock::new();
        connection
    }
}

impl fmt::Debug for GenAiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Connection { provider, endpoint, model, .. } = &*self.connection;
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

    fn provider(&self) -> Cow<'static, str> {
        self.connection.provider.id().into()
    }

    fn server(&self) -> Option<Cow<'_, str>> {
        self.connection.endpoint.place().map(Cow::Owned)
    }

    fn context_window(&self) -> Option<u64> {
        self.window
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        let connection = self.connection.clone();
        Box::pin(stream::once(connection.open(request)).try_flatten())
    }
}
