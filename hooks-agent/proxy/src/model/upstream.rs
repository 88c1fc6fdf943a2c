//! The API of a provider.

use std::net::IpAddr;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, EXPECT, HOST, HeaderName,
    PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use axum::http::{HeaderMap, Method, StatusCode};
use futures::{Stream, StreamExt, TryStreamExt};
use reqwest::{Client, Url};

use crate::model::access::TOKEN;
use crate::model::error::ProxyError;
use crate::model::refusal::Refusal;
use crate::model::route::Provider;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// The headers of one connection, which no other one has.
const OF_CONNECTION: [HeaderName; 8] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// The API of a provider, by its URL.
#[derive(Clone)]
pub(crate) struct Upstream {
    client: Client,
    url: Url,
}

/// The answer of an upstream.
pub(crate) struct Answered {
    pub(crate) status: StatusCode,
    /// Those of the answer, not of its connection.
    pub(crate) headers: HeaderMap,
    body: reqwest::Response,
}

impl Upstream {
    /// Creates an upstream that may be silent for this long.
    pub(crate) fn new(
        provider: Provider,
        url: &str,
        silence: Duration,
    ) -> Result<Self, ProxyError> {
        let upstream = provider.name();
        let url: Url = url.parse().map_err(|_| ProxyError::Url { upstream })?;
        let is_plain = matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        if !is_plain {
            return Err(ProxyError::Url { upstream });
        }
        let has_tls = cfg!(any(feature = "tls", feature = "tls-ring"));
        if url.scheme() == "https" && !has_tls {
            return Err(ProxyError::NoTls { upstream });
        }
        // A client by ring takes the provider of the process; one that the program has set stays.
        #[cfg(all(feature = "tls-ring", not(feature = "tls")))]
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Bodies are read as they are sent, whatever else this client can in a program.
        let plain = Client::builder().no_gzip().no_brotli().no_zstd().no_deflate();
        let mut builder = plain
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .read_timeout(silence);
        if is_local(&url) {
            builder = builder.no_proxy();
        }
        // Nothing is encrypted, and certificates may be missing.
        #[cfg(any(feature = "tls", feature = "tls-ring"))]
        if url.scheme() == "http" {
            builder = builder.tls_certs_only([]);
        }
        Ok(Self { client: builder.build().map_err(ProxyError::Client)?, url })
    }

    /// Sends a request, with the headers of the caller.
    pub(crate) async fn send(
        &self,
        method: Method,
        rest: &str,
        query: Option<&str>,
        headers: &HeaderMap,
        body: Option<Bytes>,
    ) -> Result<Answered, Refusal> {
        let mut url = self.url.clone();
        url.set_path(&format!("{}{rest}", self.url.path().trim_end_matches('/')));
        url.set_query(query);
        let mut request = self.client.request(method, url).headers(passed_on(headers));
        if let Some(body) = body {
            request = request.body(body);
        }
        let body = request.send().await.map_err(|error| failed(&error))?;
        let headers = of_answer(body.headers());
        Ok(Answered { status: body.status(), headers, body })
    }
}

impl Answered {
    /// Returns the bytes of the body, as they arrive.
    pub(crate) fn stream(
        self,
    ) -> impl Stream<Item = Result<Bytes, reqwest::Error>> + Send + 'static {
        self.body.bytes_stream()
    }

    /// Returns the whole body.
    pub(crate) async fn bytes(self, most: usize) -> Result<Vec<u8>, Refusal> {
        let mut body = self.body.bytes_stream().map_err(|error| failed(&error)).boxed();
        let mut bytes = Vec::new();
        while let Some(chunk) = body.next().await {
            bytes.extend_from_slice(&chunk?);
            if bytes.len() > most {
                return Err(Refusal::unreachable("the answer of the upstream is too long"));
            }
        }
        Ok(bytes)
    }
}

/// Returns why a request failed, without its URL and its body, and reports the cause to who runs the proxy.
pub(crate) fn failed(error: &reqwest::Error) -> Refusal {
    let mut causes = Vec::new();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        causes.push(error.to_string());
        cause = error.source();
    }
    tracing::warn!(target: "hooks_agent::proxy", "the upstream failed: {}", causes.join(": "));
    if error.is_timeout() {
        return Refusal::timed_out();
    }
    Refusal::unreachable(if error.is_connect() {
        "the upstream cannot be reached"
    } else {
        "the connection to the upstream broke off"
    })
}

/// Returns the headers that the upstream gets.
fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let mut passed = without_connection(headers);
    // What is encoded cannot be read, and a length may change.
    for name in [HOST, CONTENT_LENGTH, ACCEPT_ENCODING, EXPECT, HeaderName::from_static(TOKEN)] {
        passed.remove(name);
    }
    passed
}

fn of_answer(headers: &HeaderMap) -> HeaderMap {
    let mut passed = without_connection(headers);
    passed.remove(CONTENT_LENGTH);
    passed
}

fn without_connection(headers: &HeaderMap) -> HeaderMap {
    let mut passed = headers.clone();
    let named = headers.get_all(CONNECTION).iter().filter_map(|names| names.to_str().ok());
    for name in named.flat_map(|names| names.split(',')) {
        passed.remove(name.trim());
    }
    for name in &OF_CONNECTION {
        passed.remove(name);
    }
    passed
}

/// Returns whether an answer is encoded, against what was asked.
pub(crate) fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity")
}

fn is_local(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
