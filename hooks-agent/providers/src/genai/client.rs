//! Builds the HTTP client of a model.

use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{ClientBuilder, StatusCode, Url};

use crate::genai::endpoint::Endpoint;
use crate::genai::redact::without_likely_keys;
use crate::http::{client_builder, is_local, stay, without_certificates};

/// The options of the HTTP client of a model, and of its requests.
#[derive(Clone)]
pub(super) struct ClientOptions {
    /// The headers of each request, each name once.
    headers: Vec<(String, String)>,
    pub(super) connect_timeout: Duration,
    pub(super) read_timeout: Duration,
    pub(super) proxy: Proxy,
}

/// The proxy that requests are sent through.
#[derive(Clone)]
pub(super) enum Proxy {
    /// The one that the environment names, but none for a server on this machine.
    Environment,
    None,
    At(Endpoint),
}

impl Default for ClientOptions {
    /// Models may think for minutes before the first byte: the time is that of the clients that
    /// `OpenAI` and Anthropic publish.
    fn default() -> Self {
        Self {
            headers: Vec::new(),
            connect_timeout: Duration::from_secs(30),
            read_timeout: Duration::from_mins(10),
            proxy: Proxy::Environment,
        }
    }
}

impl ClientOptions {
    /// Sets a header, instead of one of the same name.
    pub(super) fn set_header(&mut self, name: String, value: String) {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(&name));
        self.headers.push((name, value));
    }

    /// Returns the headers as the crate spells them, so that they replace its own.
    ///
    /// # Errors
    /// Which header cannot be sent, without its value.
    pub(super) fn headers(&self) -> Result<Vec<(String, String)>, String> {
        let headers = self.headers.iter().enumerate().map(|(index, (name, value))| {
            let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else {
                let cure = "write letters, digits and `-`";
                return Err(format!("the name of {} is invalid, {cure}", shown(index, name)));
            };
            if HeaderValue::from_str(value).is_err() {
                let cure = "write visible ASCII characters on one line";
                let header = shown(index, name.as_str());
                return Err(format!("the value of {header} is invalid, {cure}"));
            }
            let name = if name == "authorization" { "Authorization" } else { name.as_str() };
            Ok((name.to_owned(), value.clone()))
        });
        headers.collect()
    }

    /// Returns the texts that no error may quote.
    pub(super) fn secrets(&self) -> impl Iterator<Item = String> {
        // A value such as `1` or `on` would mask words that any message has.
        const SHORTEST: usize = 4;
        let words = self.headers.iter().flat_map(|(_, value)| value.split_whitespace());
        let words = words.filter(|word| word.len() >= SHORTEST).map(str::to_owned);
        let password = match &self.proxy {
            Proxy::At(proxy) => proxy.password(),
            Proxy::Environment | Proxy::None => None,
        };
        words.chain(password)
    }

    /// Returns a builder of clients for a server.
    ///
    /// # Errors
    /// Why no request can be sent through the proxy, without a part of its URL.
    pub(super) fn builder(&self, server: &Url) -> Result<ClientBuilder, String> {
        let mut builder = client_builder()
            .redirect(Policy::custom(stay_with_body))
            .connect_timeout(self.connect_timeout)
            .read_timeout(self.read_timeout);
        let is_local = is_local(server);
        let mut is_plain = server.scheme() == "http";
        match &self.proxy {
            Proxy::Environment if is_plain && is_local => builder = builder.no_proxy(),
            Proxy::Environment => is_plain = false,
            Proxy::None => builder = builder.no_proxy(),
            Proxy::At(proxy) => {
                let invalid = |reason: String| format!("the proxy is invalid: {reason}");
                let url = proxy.parse("remove it").map_err(invalid)?;
                is_plain &= url.scheme() == "http";
                let proxy = reqwest::Proxy::all(url);
                let proxy = proxy.map_err(|_| invalid("no proxy has this URL".to_owned()))?;
                builder = builder.no_proxy().proxy(proxy);
            }
        }
        // Without encryption no certificates are needed, which may be missing.
        Ok(if is_plain { without_certificates(builder) } else { builder })
    }

    /// Completes the reason of a failure: names the option of a timeout, and the proxy that could
    /// not be reached.
    pub(super) fn failure(&self, error: &reqwest::Error, reason: String) -> String {
        match &self.proxy {
            _ if error.is_timeout() && error.is_connect() => {
                format!("no connection for {:?}, see `connect_timeout`", self.connect_timeout)
            }
            _ if error.is_timeout() => {
                format!("nothing received for {:?}, see `read_timeout`", self.read_timeout)
            }
            Proxy::At(proxy) if error.is_connect() => {
                format!("through the proxy {proxy}: {reason}")
            }
            _ => reason,
        }
    }
}

/// Follows a redirect that keeps the body of the request. After another one, the next server would
/// be asked for a page.
fn stay_with_body(attempt: Attempt<'_>) -> Action {
    match attempt.status() {
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => stay(attempt),
        _ => attempt.stop(),
    }
}

/// Returns the name of a header to print, or its number if the name may hold the value.
fn shown(index: usize, name: &str) -> String {
    let is_printable = name.bytes().all(|byte| byte.is_ascii_graphic() && !b":=/`".contains(&byte));
    if is_printable && !name.is_empty() && without_likely_keys(name) == name {
        format!("header `{name}`")
    } else {
        format!("header {}", index + 1)
    }
}
