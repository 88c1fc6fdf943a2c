//! The URL of a provider.

use std::fmt;

use reqwest::Url;

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

    /// Parses the URL.
    ///
    /// # Errors
    /// Why no request can be sent to it, without a part of it.
    pub(super) fn parse(&self) -> Result<Url, String> {
        let url = Url::parse(&self.url).map_err(|error| error.to_string())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("the scheme of the URL is neither `http` nor `https`".to_owned());
        }
        // The crate appends the path of the request to the URL, and prints the URL when it fails.
        if url.query().is_some() || url.fragment().is_some() {
            let cure = "pass a key as the key of the model";
            return Err(format!("the URL has a query or a fragment, {cure}"));
        }
        Ok(url)
    }

    /// Returns the password of the URL, or a user without one, which is a token.
    pub(super) fn password(&self) -> Option<String> {
        let url = Url::parse(&self.url).ok()?;
        Some(url.password().unwrap_or(url.username()).to_owned())
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Url::parse(&self.url).ok().as_ref().and_then(place) {
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

/// Returns the scheme, host and port. A password with a `/`, `?` or `#` ends the host too early:
/// then the rest has an `@`, and the host is not one.
fn place(url: &Url) -> Option<String> {
    let (host, scheme) = (url.host_str()?, url.scheme());
    let rest = [Some(url.path()), url.query(), url.fragment()];
    if !matches!(scheme, "http" | "https") || rest.into_iter().flatten().any(|p| p.contains('@')) {
        return None;
    }
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{scheme}://{host}{port}"))
}
