//! The hosts by which the studio is reached.

use std::net::SocketAddr;

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, Uri};

/// The hosts by which the studio is reached: a page of another name that resolves to this machine is
/// refused.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    local: Vec<String>,
    /// Names that the program gave: a proxy may add TLS.
    named: Vec<String>,
}

impl Hosts {
    pub(crate) fn new(bound: SocketAddr, named: &[String]) -> Self {
        let port = bound.port();
        let mut local: Vec<_> =
            ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")).into();
        if !bound.ip().is_unspecified() {
            local.push(bound.to_string());
        }
        if port == 80 {
            let plain = |host: &String| host.strip_suffix(":80").map(str::to_owned);
            local.extend(local.iter().filter_map(plain).collect::<Vec<_>>());
        }
        let named = named.iter().flat_map(|name| {
            let name = name.to_ascii_lowercase();
            let has_port = name.rsplit_once(':').is_some_and(|(_, port)| {
                !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit())
            });
            let with_port = (!has_port).then(|| format!("{name}:{port}"));
            with_port.into_iter().chain([name])
        });
        Self { local, named: named.collect() }
    }

    /// Returns the host of a request, if it names one that is allowed and no other.
    pub(super) fn of(&self, headers: &HeaderMap, uri: &Uri) -> Option<String> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next()?.to_str().ok()?.to_ascii_lowercase();
        if hosts.next().is_some() {
            return None;
        }
        let is_in_uri = uri.authority().is_none_or(|it| it.as_str().eq_ignore_ascii_case(&host));
        let is_known = self.local.contains(&host) || self.named.contains(&host);
        (is_known && is_in_uri).then_some(host)
    }

    /// Returns whether a request comes from the page of this host, or not from a page.
    pub(super) fn is_own_origin(&self, headers: &HeaderMap, host: &str) -> bool {
        let mut origins = headers.get_all(ORIGIN).iter();
        let Some(origin) = origins.next() else { return true };
        let Ok(origin) = origin.to_str() else { return false };
        let origin = origin.to_ascii_lowercase();
        let is_plain = origin.strip_prefix("http://") == Some(host);
        let is_tls = origin.strip_prefix("https://") == Some(host);
        let is_named = self.named.iter().any(|named| named == host);
        origins.next().is_none() && (is_plain || is_tls && is_named)
    }
}
