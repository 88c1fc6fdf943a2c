//! The HTTP client of models and of MCP servers.

use std::error::Error;
use std::net::IpAddr;

use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{ClientBuilder, Url};

/// Returns the builder of a client that follows redirects within an origin only.
pub(crate) fn client_builder() -> ClientBuilder {
    reqwest::Client::builder().redirect(Policy::custom(stay))
}

/// Returns the builder of a client that sends requests to a URL.
#[cfg(feature = "mcp-http")]
pub(crate) fn client_of(url: &Url) -> ClientBuilder {
    let builder = client_builder();
    if url.scheme() == "http" && is_local(url) {
        // A server on this machine needs no proxy and no certificates, which may be missing.
        return builder.no_proxy().tls_certs_only([]);
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
