//! The HTTP client.

use std::error::Error;
use std::net::IpAddr;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};

/// Returns a client for a URL: it follows no redirect and asks no proxy.
pub(super) fn client_of(url: &Url) -> Result<Client, String> {
    // A client by ring takes the provider of the process; one that the program has set stays.
    #[cfg(all(feature = "tls-ring", not(feature = "tls")))]
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .redirect(Policy::none())
        .no_proxy()
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate();
    // Without encryption no certificates are needed, which may be missing.
    #[cfg(any(feature = "tls", feature = "tls-ring"))]
    let builder = if url.scheme() == "http" { builder.tls_certs_only([]) } else { builder };
    #[cfg(not(any(feature = "tls", feature = "tls-ring")))]
    let _ = url;
    builder.build().map_err(|error| format!("there is no HTTP client: {}", reason_of(&error)))
}

/// Returns why an event cannot be sent to a URL as it is.
pub(super) fn why_refused(url: &Url) -> Option<&'static str> {
    let has_tls = cfg!(any(feature = "tls", feature = "tls-ring"));
    match url.scheme() {
        "https" if has_tls => None,
        "https" => Some(
            "the URL is one of `https`: build the program with the feature `tls` or `tls-ring` of \
             hooks-agent",
        ),
        "http" if is_local(url) => None,
        "http" => Some(
            "expected `https`, or a server on this machine: the event would cross a network without \
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
pub(super) fn reason_of(error: &reqwest::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    let innermost = causes.last().filter(|cause| !cause.is::<reqwest::Error>());
    let kind = || if error.is_connect() { "no connection" } else { "it was cut" };
    innermost.map_or_else(|| kind().to_owned(), ToString::to_string)
}
