//! The URL of a provider.

use std::fmt;

use reqwest::Url;

use crate::http::{place_of, without_tls};

/// The URL of a provider, with a slash at its end.
///
/// It can contain a password or a key. Only its scheme, host and port are printed.
#[derive(Clone)]
pub(super) struct Endpoint {
    url: String,
}

impl Endpoint {
    pub(super) fn new(url: impl Into<String>) -> Self {
        let mut url = url.into();
        if !url.ends_with('/') {
            url.push('/');
        }
        Self { url }
    }

    /// Returns the whole URL, to connect.
    pub(super) fn as_str(&self) -> &str {
        &self.url
    }

    /// Parses the URL. `cure` is what to do about a query.
    ///
    /// # Errors
    /// Why no request can be sent to it, without a part of it.
    pub(super) fn parse(&self, cure: &str) -> Result<Url, String> {
        let url = match Url::parse(&self.url) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => url,
            _ if !self.has_scheme() => {
                return Err("the URL has no scheme, write `http://` or `https://` first".to_owned());
            }
            Ok(_) => return Err("the scheme of the URL is neither `http` nor `https`".to_owned()),
            Err(error) => return Err(error.to_string()),
        };
        // The crate appends the path of the request to the URL, and prints the URL when it fails.
        if url.query().is_some() || url.fragment().is_some() {
            return Err(format!("the URL has a query or a fragment, {cure}"));
        }
        if let Some(reason) = without_tls(&url) {
            return Err(reason.to_owned());
        }
        Ok(url)
    }

    /// Returns whether the URL starts with a scheme: a host before a port looks like one.
    fn has_scheme(&self) -> bool {
        let scheme = self.url.trim_start().split_once("://").map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| scheme.bytes().all(|byte| byte.is_ascii_alphabetic()))
    }

    /// Returns the scheme, the host and the port, if the URL has them.
    pub(super) fn place(&self) -> Option<String> {
        Url::parse(&self.url).ok().as_ref().and_then(place_of)
    }

    /// Returns the password of the URL, or a user without one, which is a token.
    pub(super) fn password(&self) -> Option<String> {
        let url = Url::parse(&self.url).ok()?;
        Some(url.password().unwrap_or(url.username()).to_owned())
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place() {
            Some(place) => f.write_str(&place),
            None => f.write_str("an invalid endpoint"),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}
