//! Who may send requests to a proxy.

use std::net::IpAddr;

use axum::http::header::{HOST, ORIGIN, PROXY_AUTHORIZATION};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use subtle::ConstantTimeEq;

/// Lets requests in: those of programs on this machine, else those with the token.
#[derive(Clone)]
pub(crate) struct Entrance {
    token: Option<String>,
}

impl Entrance {
    pub(crate) const fn new(token: Option<String>) -> Self {
        Self { token }
    }

    /// Returns the status and the reason for a request that is not let in: a page of another site, also one whose
    /// name leads to this machine, or a request without the token.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        let origins = headers.get_all(ORIGIN).iter().count();
        if origins > 0 && !only(headers, &ORIGIN).is_some_and(is_local_origin) {
            return Err((StatusCode::FORBIDDEN, "pages of other sites are not let in"));
        }
        let Some(token) = &self.token else {
            return match only(headers, &HOST) {
                Some(host) if is_local(host) => Ok(()),
                _ => Err((StatusCode::FORBIDDEN, "`Host` is not this machine")),
            };
        };
        let shown = only(headers, &PROXY_AUTHORIZATION).and_then(|it| it.strip_prefix("Bearer "));
        if shown.is_some_and(|shown| token.as_bytes().ct_eq(shown.as_bytes()).into()) {
            return Ok(());
        }
        let reason = "`Proxy-Authorization` is not `Bearer` and the token";
        Err((StatusCode::PROXY_AUTHENTICATION_REQUIRED, reason))
    }
}

/// Returns the text of a header that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

fn is_local_origin(origin: &str) -> bool {
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    host.is_some_and(is_local)
}

/// Returns whether a host, with or without a port, is this machine.
fn is_local(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    let is_this = || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    !host.contains('@') && (name.eq_ignore_ascii_case("localhost") || is_this())
}
