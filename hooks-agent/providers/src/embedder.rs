//! Embeddings of a provider over HTTP, through the crate `genai`.

use std::error::Error;
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use genai::adapter::AdapterKind;
use genai::embed::{EmbedOptions, EmbedResponse};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use hooks_core::BoxError;
use reqwest::Url;
use reqwest::redirect::Policy;

use crate::http::{client_of, without_tls};
use hooks_agent_core::model::{EmbedFuture, Embedder};

/// An [`Embedder`] that asks the embeddings endpoint of a provider.
///
/// `Debug` and errors have the model, the scheme, host and port of the endpoint, and the status of
/// the answer: neither the key, nor texts, nor what the provider writes, which may quote both. A
/// redirect is not followed. An `http` endpoint on this machine is asked without a proxy.
///
/// | setting | default |
/// |---|---|
/// | [`openai_compatible`](Self::openai_compatible), [`gemini`](Self::gemini), [`ollama`](Self::ollama) | required |
/// | [`endpoint`](Self::endpoint) | that of the provider |
/// | [`request_dimension`](Self::request_dimension) | the model's own dimension |
/// | [`timeout`](Self::timeout) of a request | 60 seconds |
///
/// ```
/// use hooks_agent::builtin::knowledge::GenAiEmbedder;
///
/// let url = "https://api.openai.com/v1/";
/// let embedder = GenAiEmbedder::openai_compatible(url, "sk-secret", "text-embedding-3-small", 1536);
/// assert!(!format!("{embedder:?}").contains("secret"));
/// ```
#[must_use]
pub struct GenAiEmbedder {
    adapter: AdapterKind,
    endpoint: String,
    key: String,
    model: String,
    dimension: usize,
    requests_dimension: bool,
    timeout: Duration,
    client: OnceLock<Client>,
}

impl GenAiEmbedder {
    /// Asks an API that is compatible with `OpenAI`'s. `url` is the part before `embeddings`.
    pub fn openai_compatible(
        url: impl Into<String>,
        key: impl Into<String>,
        model: impl Into<String>,
        dimension: usize,
    ) -> Self {
        Self::of(AdapterKind::OpenAI, url.into(), key.into(), model.into(), dimension)
    }

    /// Asks a Gemini model of Google.
    pub fn gemini(key: impl Into<String>, model: impl Into<String>, dimension: usize) -> Self {
        let url = "https://generativelanguage.googleapis.com/v1beta/".to_owned();
        Self::of(AdapterKind::Gemini, url, key.into(), model.into(), dimension)
    }

    /// Asks a model of Ollama on this machine.
    pub fn ollama(model: impl Into<String>, dimension: usize) -> Self {
        let url = "http://localhost:11434/".to_owned();
        Self::of(AdapterKind::Ollama, url, String::new(), model.into(), dimension)
    }

    /// Sets another URL for the provider: the part before `embeddings`, before `models/` of Gemini, or
    /// before `api/embed` of Ollama.
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = with_slash(url.into());
        self
    }

    /// Requests vectors of the dimension, of a model that has several.
    pub fn request_dimension(mut self) -> Self {
        self.requests_dimension = true;
        self
    }

    /// Sets the longest time of a request.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        (self.timeout, self.client) = (timeout, OnceLock::new());
        self
    }

    fn of(adapter: AdapterKind, url: String, key: String, model: String, dimension: usize) -> Self {
        Self {
            adapter,
            endpoint: with_slash(url),
            key,
            model,
            dimension,
            requests_dimension: false,
            timeout: Duration::from_mins(1),
            client: OnceLock::new(),
        }
    }

    async fn embed_now(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, BoxError> {
        // With a name alone, the crate would guess the provider.
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(self.endpoint.as_str()),
            auth: AuthData::from_single(self.key.as_str()),
            model: ModelIden::new(self.adapter, self.model.as_str()),
        };
        let mut options = EmbedOptions::new();
        if self.requests_dimension {
            options = options.with_dimensions(self.dimension);
        }
        let asked = self.client()?.embed_batch(target, texts.to_vec(), Some(&options)).await;
        asked.map(in_order).map_err(|error| self.explain(&error).into())
    }

    fn client(&self) -> Result<Client, BoxError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let url = self.url().ok_or_else(|| {
            format!("the endpoint of `{}` is no URL of http or https without a query", self.model)
        })?;
        if let Some(reason) = without_tls(&url) {
            return Err(reason.into());
        }
        let builder = client_of(&url).redirect(Policy::none()).timeout(self.timeout);
        let http = builder.build().map_err(reqwest::Error::without_url)?;
        let client = Client::builder().with_reqwest(http).build();
        let client = client.map_err(|_| "the client of `genai` could not be made")?;
        Ok(self.client.get_or_init(|| client).clone())
    }

    fn url(&self) -> Option<Url> {
        let url = Url::parse(&self.endpoint).ok()?;
        let is_plain = url.query().is_none() && url.fragment().is_none();
        (matches!(url.scheme(), "http" | "https") && is_plain).then_some(url)
    }

    /// Returns the scheme, host and port.
    fn place(&self) -> String {
        match self.url() {
            Some(url) => url.origin().ascii_serialization(),
            None => "an invalid endpoint".to_owned(),
        }
    }

    /// Describes a failure without the texts of the crate, which quote the request and the answer.
    fn explain(&self, error: &genai::Error) -> String {
        let (model, place) = (&self.model, self.place());
        let reason = match error.status() {
            Some(status) => format!("status {}", status.as_u16()),
            None => match cause::<reqwest::Error>(error) {
                Some(error) if error.is_timeout() => format!("no answer within {:?}", self.timeout),
                Some(error) if error.is_connect() => "no connection".to_owned(),
                Some(_) => "the connection broke".to_owned(),
                None => "the answer is not what the API describes".to_owned(),
            },
        };
        format!("{reason} from {place} for model `{model}`")
    }
}

/// Returns the cause of this type.
fn cause<E: Error + 'static>(error: &genai::Error) -> Option<&E> {
    if let genai::Error::WebModelCall { webc_error: genai::webc::Error::Reqwest(error), .. } = error
    {
        return (error as &dyn Error).downcast_ref();
    }
    None
}

fn in_order(response: EmbedResponse) -> Vec<Vec<f32>> {
    let mut embeddings = response.embeddings;
    embeddings.sort_by_key(|embedding| embedding.index);
    embeddings.into_iter().map(|embedding| embedding.vector).collect()
}

fn with_slash(mut url: String) -> String {
    if !url.ends_with('/') {
        url.push('/');
    }
    url
}

impl Embedder for GenAiEmbedder {
    fn name(&self) -> &str {
        &self.model
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> EmbedFuture<'a> {
        Box::pin(self.embed_now(texts))
    }
}

impl fmt::Debug for GenAiEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenAiEmbedder")
            .field("model", &self.model)
            .field("dimension", &self.dimension)
            .field("endpoint", &self.place())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
