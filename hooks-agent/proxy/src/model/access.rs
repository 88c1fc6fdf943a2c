//! Who may call the proxy.

use std::net::SocketAddr;

use axum::http::header::HOST;
use axum::http::{HeaderMap, HeaderValue};
use subtle::ConstantTimeEq;

use crate::model::error::ProxyError;

/// The header with the token of the proxy; that of the provider stays in its own.
pub(crate) const TOKEN: &str = "x-hooks-agent-token";

/// Who may call the proxy: by the names that it is called by, and by its token.
#[derive(Clone)]
pub(crate) struct Access {
    hosts: Vec<String>,
    token: Option<String>,
}

impl Access {
    /// Lets in what calls a proxy that listens at this address by its address or by one of these hosts.
    pub(crate) fn new(
        address: SocketAddr,
        hosts: &[String],
        token: Option<String>,
    ) -> Result<Self, ProxyError> {
        let (ip, port) = (address.ip(), address.port());
        if !ip.is_loopback() && token.is_none() {
            return Err(ProxyError::NoToken { address });
        }
        let mut hosts = hosts.to_vec();
        if !ip.is_unspecified() {
            hosts.push(address.to_string());
        }
        if ip.is_loopback() {
            hosts.push(format!("localhost:{port}"));
        }
        if hosts.is_empty() {
            return Err(ProxyError::NoHost { address });
        }
        Ok(Self { hosts, token })
    }

    /// Returns why a request is not let in. A page in a browser may call any address by a name of its own, which is in
    /// its `Host` then.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), &'static str> {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        if !self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host)) {
            return Err("`Host` is not a name of this proxy");
        }
        let Some(token) = &self.token else { return Ok(()) };
        let given = headers.get(TOKEN).map(HeaderValue::as_bytes).unwrap_or_default();
        let is_same: bool = token.as_bytes().ct_eq(given).into();
        if is_same { Ok(()) } else { Err("`x-hooks-agent-token` is not the token of this proxy") }
    }
}
