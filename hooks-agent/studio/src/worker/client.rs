//! The HTTP client of a worker.

use std::error::Error;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Response, StatusCode, Url};

use crate::error::StudioError;
use crate::join::{Answer, MOST_BYTES};
use crate::server::Token;

/// How long a connection may take to be made, and an answer. The studio holds a request for 15 seconds.
const CONNECT: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends messages to one studio.
pub(crate) struct Client {
    client: reqwest::Client,
    url: Url,
    key: HeaderValue,
}

/// Why a message was not taken.
#[derive(Debug)]
pub(super) enum Failed {
    /// The key is wrong.
    Key,
    /// The studio refuses this message, also a second time.
    Message(String),
    /// It did not arrive, or is to be sent once more.
    Lost(String),
}

impl Client {
    /// Creates the client. A studio on another machine is reached over TLS alone, and through no proxy.
    pub(crate) fn new(url: &str, key: &str) -> Result<Self, StudioError> {
        let refused = |reason: &str| StudioError::Join { reason: reason.to_owned() };
        let key = Token::key(key)?;
        let mut url = Url::parse(url).map_err(|error| refused(&error.to_string()))?;
        if let Some(reason) = why_refused(&url) {
            return Err(refused(reason));
        }
        url.set_query(None);
        url.set_fragment(None);
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(["api", "join"]);
        }
        let mut key = HeaderValue::from_str(&format!("Bearer {}", key.as_str()))
            .map_err(|error| refused(&error.to_string()))?;
        key.set_sensitive(true);
        let client = client_of(&url).map_err(|error| refused(&reason_of(&error)))?;
        Ok(Self { client, url, key })
    }

    /// Sends a message.
    pub(super) async fn send(&self, body: Vec<u8>) -> Result<Answer, Failed> {
        let lost = |error: reqwest::Error| Failed::Lost(reason_of(&error));
        let request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json");
        let request = request.header(AUTHORIZATION, self.key.clone()).body(body);
        let mut response = request.send().await.map_err(lost)?;
        let status = response.status();
        let bytes = read(&mut response).await.map_err(lost)?;
        match status {
            StatusCode::OK => serde_json::from_slice(&bytes)
                .map_err(|error| Failed::Lost(format!("the answer cannot be read: {error}"))),
            StatusCode::UNAUTHORIZED => Err(Failed::Key),
            StatusCode::BAD_REQUEST
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::UNPROCESSABLE_ENTITY => Err(Failed::Message(format!("status {status}"))),
            _ => Err(Failed::Lost(format!("status {status}"))),
        }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key => f.write_str("the key is not the one of the studio"),
            Self::Message(reason) | Self::Lost(reason) => f.write_str(reason),
        }
    }
}

/// Reads an answer, up to what a message may have.
async fn read(response: &mut Response) -> Result<Vec<u8>, reqwest::Error> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MOST_BYTES {
            // What is cut is no JSON.
            break;
        }
    }
    Ok(bytes)
}

fn client_of(url: &Url) -> Result<reqwest::Client, reqwest::Error> {
    // A client by ring takes the provider of the process; one that the program has set stays.
    #[cfg(all(feature = "tls-ring", not(feature = "tls")))]
    let _ = rustls::crypto::ring::default_provider().install_default();
    // Another place would be sent the key.
    let builder = reqwest::Client::builder().redirect(Policy::none()).no_proxy();
    let builder = builder.no_gzip().no_brotli().no_zstd().no_deflate();
    let builder = builder.connect_timeout(CONNECT).timeout(PATIENCE);
    // Without encryption no certificates are needed, which may be missing.
    #[cfg(any(feature = "tls", feature = "tls-ring"))]
    let builder = if url.scheme() == "http" { builder.tls_certs_only([]) } else { builder };
    #[cfg(not(any(feature = "tls", feature = "tls-ring")))]
    let _ = url;
    builder.build()
}

/// Returns why a studio is not joined at a URL.
fn why_refused(url: &Url) -> Option<&'static str> {
    let has_tls = cfg!(any(feature = "tls", feature = "tls-ring"));
    if !url.username().is_empty() || url.password().is_some() {
        return Some("the URL has a user or a password: the key is enough");
    }
    match url.scheme() {
        "https" if has_tls => None,
        "https" => Some(
            "the URL is one of `https`: build the program with the feature `tls` or `tls-ring` of \
             hooks-agent",
        ),
        "http" if is_local(url) => None,
        "http" => Some(
            "expected `https`, or a studio on this machine: the runs would cross a network without \
             encryption",
        ),
        _ => Some("expected a URL of `https` or `http`"),
    }
}

fn is_local(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns why a request failed: the innermost cause. An error of the client itself quotes the URL.
fn reason_of(error: &reqwest::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    let innermost = causes.last().filter(|cause| !cause.is::<reqwest::Error>());
    let kind = || if error.is_connect() { "no connection" } else { "it was cut" };
    innermost.map_or_else(|| kind().to_owned(), ToString::to_string)
}
