//! A recognizer behind a URL, which speaks the API of Presidio's analyzer.

use std::borrow::Cow;
use std::fmt;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use serde::Deserialize;
use serde_json::json;

use crate::http::{client_of, is_local, place_of, reason_of, without_tls};
use hooks_agent_core::model::{RecognizeFuture, Recognized, Recognizer};
use hooks_core::BoxError;

/// What is asked for by default: names and addresses, which have no form.
const ENTITIES: [&str; 2] = ["PERSON", "LOCATION"];
/// The most bytes of an answer.
const MOST_BYTES: usize = 16 << 20;

/// A [`Recognizer`] behind a URL, which speaks the API of the analyzer of [Presidio], an open-source program:
/// `POST /analyze` with a list of texts.
///
/// The texts leave the process, and the analyzer is one more processor of personal data. They go over TLS or
/// to this machine, to no other place by a redirect, and on this machine past any proxy. Neither texts nor answers are in
/// errors or logs.
///
/// | setting | default |
/// |---|---|
/// | [`entities`](Self::entities), [`all_entities`](Self::all_entities) | `PERSON` and `LOCATION` |
/// | [`bearer`](Self::bearer) | none |
///
/// Its kinds are the names of the entities in small letters, such as `person`; entities that
/// `PiiDetection` knows have the names that it uses, such as `email` for `EMAIL_ADDRESS`. A time limit, a
/// cache and the size of a request are settings of `PiiRecognition`.
///
/// ```no_run
/// use hooks_agent::builtin::guard::PiiDetection;
/// use hooks_agent::model::RemoteRecognizer;
///
/// // docker run -p 5002:3000 mcr.microsoft.com/presidio-analyzer
/// let names = RemoteRecognizer::new("http://127.0.0.1:5002", "en")?;
/// let hook = PiiDetection::all().recognizer(names).everywhere();
/// # let _ = hook;
/// # Ok::<(), hooks_agent::model::RemoteRecognizerError>(())
/// ```
///
/// [Presidio]: https://microsoft.github.io/presidio/
#[derive(Clone)]
#[must_use]
pub struct RemoteRecognizer {
    name: String,
    url: Url,
    language: String,
    entities: Option<Vec<String>>,
    authorization: Option<HeaderValue>,
    client: Client,
}

/// Why a [`RemoteRecognizer`] cannot be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteRecognizerError {
    /// It is no URL.
    #[error(
        "the URL of the recognizer is none of `http://` or `https://` without a name, a password and a query: write one like `http://127.0.0.1:5002`"
    )]
    Url,
    /// The texts would cross a network without encryption.
    #[error(
        "the recognizer at `{place}` would receive texts without encryption: use `https`, or a recognizer on this machine"
    )]
    Plain {
        /// Scheme, host and port.
        place: String,
    },
    /// The program has no TLS.
    #[error("the recognizer cannot be asked: {reason}")]
    NoTls {
        /// What is missing.
        reason: &'static str,
    },
    /// The token is no value of a header.
    #[error("the token of the recognizer has characters that a header cannot have")]
    Token,
    /// The client could not be made.
    #[error("the client of the recognizer could not be made")]
    Client(#[source] reqwest::Error),
}

/// Something that the analyzer recognized. Its places count characters.
#[derive(Deserialize)]
struct Item {
    entity_type: String,
    start: usize,
    end: usize,
    score: f32,
}

impl RemoteRecognizer {
    /// Asks the analyzer at this URL about texts in this language, such as `en`. The URL is with or without
    /// `/analyze` at its end.
    ///
    /// # Errors
    /// [`RemoteRecognizerError`] if the URL is none, or leads over a network without encryption.
    pub fn new(
        url: impl AsRef<str>,
        language: impl Into<String>,
    ) -> Result<Self, RemoteRecognizerError> {
        let mut url = Url::parse(url.as_ref()).map_err(|_| RemoteRecognizerError::Url)?;
        let is_plain = url.query().is_none() && url.fragment().is_none();
        let has_user = !url.username().is_empty() || url.password().is_some();
        let place = place_of(&url).filter(|_| is_plain && !has_user);
        let place = place.ok_or(RemoteRecognizerError::Url)?;
        if let Some(reason) = without_tls(&url) {
            return Err(RemoteRecognizerError::NoTls { reason });
        }
        if url.scheme() == "http" && !is_local(&url) {
            return Err(RemoteRecognizerError::Plain { place });
        }
        let client = client_of(&url).redirect(Policy::none()).build();
        let client = client.map_err(RemoteRecognizerError::Client)?;
        let path = url.path().trim_end_matches('/');
        let path = format!("{}/analyze", path.strip_suffix("/analyze").unwrap_or(path));
        url.set_path(&path);
        let (name, language) = (String::new(), language.into());
        Ok(Self { name, url, language, entities: None, authorization: None, client }
            .entities(ENTITIES))
    }

    /// Sets the entities that are asked for, in the words of the analyzer, such as `PERSON`, in small or
    /// capital letters.
    pub fn entities<E: AsRef<str>>(self, entities: impl IntoIterator<Item = E>) -> Self {
        let entities = entities.into_iter().map(|entity| entity.as_ref().to_uppercase());
        self.of_entities(Some(entities.collect()))
    }

    /// Asks for all entities that the analyzer knows; dates and nationalities are some.
    pub fn all_entities(self) -> Self {
        self.of_entities(None)
    }

    /// Sends a token with each request: `Authorization: Bearer ...`.
    ///
    /// # Errors
    /// [`RemoteRecognizerError::Token`] if it has characters that a header cannot have.
    pub fn bearer(mut self, token: impl AsRef<str>) -> Result<Self, RemoteRecognizerError> {
        let value = HeaderValue::try_from(format!("Bearer {}", token.as_ref()));
        let mut value = value.map_err(|_| RemoteRecognizerError::Token)?;
        value.set_sensitive(true);
        self.authorization = Some(value);
        Ok(self)
    }

    fn of_entities(mut self, entities: Option<Vec<String>>) -> Self {
        let names = entities.as_ref().map_or_else(|| "all".to_owned(), |names| names.join(","));
        let place = place_of(&self.url).unwrap_or_default();
        self.name = format!("presidio/{}/{names} at {place}", self.language);
        self.entities = entities;
        self
    }

    async fn ask(&self, texts: &[&str]) -> Result<Vec<Vec<Recognized>>, BoxError> {
        let mut body = json!({ "text": texts, "language": self.language });
        if let Some(entities) = &self.entities {
            body["entities"] = json!(entities);
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(self.authorization.clone().map(|value| (AUTHORIZATION, value)));
        let request = self.client.post(self.url.clone()).headers(headers).body(body.to_string());
        let mut response = request.send().await.map_err(|error| reason_of(&error))?;
        if !response.status().is_success() {
            return Err(format!("it answered with status {}", response.status().as_u16()).into());
        }
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| reason_of(&error))? {
            if answer.len() + chunk.len() > MOST_BYTES {
                return Err(format!("its answer has more than {MOST_BYTES} bytes").into());
            }
            answer.extend_from_slice(&chunk);
        }
        // The error of the parser would quote the answer.
        let items: Vec<Vec<Item>> = serde_json::from_slice(&answer)
            .map_err(|_| "its answer is not one list of entities for each text")?;
        if items.len() != texts.len() {
            return Err(format!("it answered for {} of {} texts", items.len(), texts.len()).into());
        }
        let found = items.into_iter().zip(texts).map(|(items, text)| in_bytes(items, text));
        found.collect::<Option<_>>().ok_or_else(|| "it found something outside of a text".into())
    }
}

impl Recognizer for RemoteRecognizer {
    fn name(&self) -> &str {
        &self.name
    }

    fn recognize<'a>(&'a self, texts: &'a [&'a str]) -> RecognizeFuture<'a> {
        Box::pin(self.ask(texts))
    }
}

/// Counts places in bytes. Returns `None` if one is outside of the text.
fn in_bytes(items: Vec<Item>, text: &str) -> Option<Vec<Recognized>> {
    if items.is_empty() {
        return Some(Vec::new());
    }
    let places: Vec<usize> =
        text.char_indices().map(|(at, _)| at).chain(std::iter::once(text.len())).collect();
    let found = items.into_iter().map(|Item { entity_type, start, end, score }| {
        let range = *places.get(start)?..*places.get(end)?;
        (start < end).then(|| Recognized::new(kind(&entity_type), range, score))
    });
    found.collect()
}

/// Returns the kind of an entity.
fn kind(entity: &str) -> Cow<'static, str> {
    Cow::Borrowed(match entity {
        "PERSON" => "person",
        "LOCATION" => "location",
        "EMAIL_ADDRESS" => "email",
        "PHONE_NUMBER" => "phone",
        "IP_ADDRESS" => "ip",
        "IBAN_CODE" => "iban",
        "CRYPTO" => "crypto_address",
        _ => return Cow::Owned(entity.to_lowercase()),
    })
}

impl fmt::Debug for RemoteRecognizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteRecognizer")
            .field("name", &self.name)
            .field("place", &place_of(&self.url))
            .finish_non_exhaustive()
    }
}
