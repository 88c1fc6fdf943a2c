//! The HTTP client of models and of MCP servers.

use std::error::Error;
use std::net::IpAddr;

use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{ClientBuilder, Url};

/// Returns the builder of a client that follows redirects within an origin only.
pub(crate) fn client_builder() -> ClientBuilder {
    // A client by ring takes the provider of the process; one that the program has set stays.
    #[cfg(all(feature = "tls-ring", not(feature = "tls")))]
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().redirect(Policy::custom(stay))
}

/// Sets that a client needs no certificates, which may be missing where nothing is encrypted.
pub(crate) fn without_certificates(builder: ClientBuilder) -> ClientBuilder {
    #[cfg(any(feature = "tls", feature = "tls-ring"))]
    let builder = builder.tls_certs_only([]);
    builder
}

/// Returns why a program that is built without TLS cannot reach a URL.
pub(crate) fn without_tls(url: &Url) -> Option<&'static str> {
    let has_tls = cfg!(any(feature = "tls", feature = "tls-ring"));
    (url.scheme() == "https" && !has_tls).then_some(
        "the URL is one of `https`: build the program with the feature `tls` or `tls-ring` of hooks-agent",
    )
}

/// Returns the builder of a client that sends requests to a URL.
pub(crate) fn client_of(url: &Url) -> ClientBuilder {
    let builder = client_builder();
    if url.scheme() == "http" && is_local(url) {
        // A server on this machine needs no proxy and no certificates, which may be missing.
        return without_certificates(builder.no_proxy());
    }
    builder
}

/// Follows a redirect within the same origin. Another one would be sent the key: only some headers
/// that hold one are removed on the way.
pub(crate) fn stay(attempt: Attempt<'_>) -> Action {
    let origin = attempt.previous().first().map(Url::origin);
    let is_same = origin.is_some_and(|origin| origin == attempt.url().origin());
    if is_same && attempt.previous().len() <= MOST_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

const MOST_REDIRECTS: usize = 5;

/// Returns whether a URL names this machine.
pub(crate) fn is_local(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns the scheme, host and port. A password with a `/`, `?` or `#` ends the host too early:
/// then the rest has an `@`, and the host is not one.
pub(crate) fn place_of(url: &Url) -> Option<String> {
    let (host, scheme) = (url.host_str()?, url.scheme());
    let rest = [Some(url.path()), url.query(), url.fragment()];
    if !matches!(scheme, "http" | "https") || rest.into_iter().flatten().any(|p| p.contains('@')) {
        return None;
    }
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{scheme}://{host}{port}"))
}

/// Returns why a request failed, without its URL.
pub(crate) fn reason_of(error: &reqwest::Error) -> String {
    root(error).map_or_else(|| kind(error).to_owned(), ToString::to_string)
}

/// Returns the innermost cause, which describes the failure. None if it is an error of the client
/// itself, which quotes the URL.
fn root(error: &reqwest::Error) -> Option<&(dyn Error + 'static)> {
    let mut root = error.source()?;
    while let Some(cause) = root.source() {
        root = cause;
    }
    (!root.is::<reqwest::Error>()).then_some(root)
}

fn kind(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        "the request timed out"
    } else if error.is_connect() {
        "the connection failed"
    } else {
        "the request failed"
    }
}
