//! Hosts of URLs.

use url::{Host, Url};

/// Returns the host of a URL as browsers see it: in lower case, in ASCII, without a port, a user or a final
/// dot. Returns `None` for what is no URL, or has no host.
pub(crate) fn host_of(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?;
    let host = host.strip_suffix('.').unwrap_or(host);
    (!host.is_empty()).then(|| host.to_owned())
}

/// Returns the host of a URL of which all programs read the same one. Returns `None` also for a URL with a user, a
/// backslash, or a character that some programs leave out: they differ in what follows.
pub(crate) fn plain_host_of(text: &str) -> Option<String> {
    if text.contains(|it: char| it == '\\' || it.is_whitespace() || it.is_control()) {
        return None;
    }
    let url = Url::parse(text).ok()?;
    let has_user = !url.username().is_empty() || url.password().is_some();
    if has_user { None } else { host_of(text) }
}

/// The hosts that a rule lists: one, or all below a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostPattern {
    Host(String),
    /// `.corp.example`, of `*.corp.example`.
    Below(String),
}

impl HostPattern {
    /// Reads a host such as `api.example`, or all hosts below a domain: `*.corp.example`.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let (domain, is_below) = match text.strip_prefix("*.") {
            Some(domain) => (domain, true),
            None => (text, false),
        };
        let expected = || {
            format!(
                "expected a host such as `api.example` or `*.corp.example`, found `{}`",
                shown(text)
            )
        };
        if domain.contains('*') || domain.is_empty() || domain.ends_with('.') {
            return Err(expected());
        }
        let host = Host::parse(domain).map_err(|_| expected())?;
        match (host, is_below) {
            (Host::Domain(domain), true) => Ok(Self::Below(format!(".{domain}"))),
            (_, true) => Err(expected()),
            (host, false) => Ok(Self::Host(host.to_string())),
        }
    }

    pub(crate) fn is_match(&self, host: &str) -> bool {
        self.open_part(host).is_some()
    }

    /// Returns what of a host that matches is not named: `wiki` of `wiki.corp.example` for `*.corp.example`.
    pub(crate) fn open_part<'h>(&self, host: &'h str) -> Option<&'h str> {
        match self {
            Self::Host(own) => (own == host).then_some(""),
            Self::Below(domain) => host.strip_suffix(domain.as_str()),
        }
    }
}

fn shown(text: &str) -> String {
    text.chars().take(64).collect::<String>().escape_debug().to_string()
}
