//! Requests to the server behind the URL.

use std::error::Error;
use std::net::IpAddr;
use std::time::Duration;

use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, Method};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use serde_json::Value;

use crate::mcp::error::McpProxyError;
use crate::mcp::messages::message::MOST_BYTES;

/// The id of a session.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The headers that go on to the server.
const ON: [HeaderName; 4] = [
    SESSION,
    HeaderName::from_static("mcp-protocol-version"),
    AUTHORIZATION,
    HeaderName::from_static("last-event-id"),
];

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

/// The server behind a URL.
#[derive(Clone)]
pub(crate) struct Upstream {
    url: Url,
    client: Client,
}

impl Upstream {
    pub(crate) fn new(url: &str) -> Result<Self, McpProxyError> {
        let invalid = |reason: &str| McpProxyError::Url { reason: reason.to_owned() };
        let url = Url::parse(url).map_err(|error| invalid(&error.to_string()))?;
        let has_tls = cfg!(any(feature = "tls", feature = "tls-ring"));
        match url.scheme() {
            "http" => {}
            "https" if has_tls => {}
            "https" => {
                return Err(invalid(
                    "it is one of `https`: build the program with the feature `tls` or `tls-ring` of hooks-agent",
                ));
            }
            _ => return Err(invalid("write one such as `https://example.com/mcp`")),
        }
        #[cfg(all(feature = "tls-ring", not(feature = "tls")))]
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Another place would be sent the key.
        // Bodies are read as they are sent, whatever else this client can in a program.
        let plain = Client::builder().no_gzip().no_brotli().no_zstd().no_deflate();
        let mut builder = plain.redirect(Policy::none()).connect_timeout(CONNECT);
        if url.scheme() == "http" && is_local(&url) {
            builder = builder.no_proxy();
            // Certificates may be missing where nothing is encrypted.
            #[cfg(any(feature = "tls", feature = "tls-ring"))]
            {
                builder = builder.tls_certs_only([]);
            }
        }
        let client = builder.build().map_err(|error| invalid(&reason(&error)))?;
        Ok(Self { url, client })
    }

    /// Sends a message.
    pub(crate) async fn post(
        &self,
        headers: &HeaderMap,
        message: &Value,
    ) -> Result<Response, String> {
        let request = self
            .client
            .post(self.url.clone())
            .headers(on(headers))
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json")
            .body(message.to_string());
        request.send().await.map_err(|error| reason(&error))
    }

    /// Asks for the stream of the server, or ends a session.
    pub(crate) async fn send(
        &self,
        method: Method,
        headers: &HeaderMap,
    ) -> Result<Response, String> {
        let request = self
            .client
            .request(method, self.url.clone())
            .headers(on(headers))
            .header(ACCEPT, "text/event-stream");
        request.send().await.map_err(|error| reason(&error))
    }
}

/// Reads a body that is no longer than a message may be.
pub(crate) async fn body(response: &mut Response) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        if bytes.len() + chunk.len() > MOST_BYTES {
            return None;
        }
        bytes.extend_from_slice(&chunk);
    }
    Some(bytes)
}

fn on(headers: &HeaderMap) -> HeaderMap {
    let values = ON.into_iter().filter_map(|name| {
        let value = headers.get(&name)?.clone();
        Some((name, value))
    });
    values.collect()
}

fn is_local(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns why a request failed, without its URL, which may hold a key.
fn reason(error: &reqwest::Error) -> String {
    let mut cause: &(dyn Error + 'static) = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    if cause.is::<reqwest::Error>() { "the request failed".to_owned() } else { cause.to_string() }
}
