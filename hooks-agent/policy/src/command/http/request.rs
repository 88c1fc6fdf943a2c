//! A checked request.

use reqwest::header::HeaderMap;
use reqwest::{Client, Url};

use crate::command::http::client::{client_of, why_refused};
use crate::command::http::headers::headers_of;
use crate::command::http::hosts::Hosts;
use crate::command::http::parts::Parts;
use crate::command::http::signature::Signature;

/// A request that can be sent. It has no `Debug`, which could show a key.
#[derive(Clone)]
pub(crate) struct Request {
    pub(super) client: Client,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) signature: Option<Signature>,
}

impl Request {
    /// Checks the parts of a request. Each error has the field that is wrong; none has a value of a header
    /// or what follows the host in the URL.
    pub(crate) fn new(parts: &Parts<'_>) -> Result<Self, Vec<(&'static str, String)>> {
        let url = url_of(parts.url, parts.hosts);
        let headers = headers_of(parts.headers, parts.variable);
        let signature = parts.signing_key.map(Signature::new);
        let mut problems = Vec::new();
        if let Some(None) = signature {
            problems.push(("signing_key", "expected a key that is not empty".to_owned()));
        }
        problems
            .extend(headers.as_ref().err().into_iter().flatten().map(|it| ("headers", it.clone())));
        let client = match &url {
            Ok(url) => client_of(url).map_err(|why| problems.push(("url", why))).ok(),
            Err(why) => {
                problems.push(("url", why.clone()));
                None
            }
        };
        match (client, url, headers) {
            (Some(client), Ok(url), Ok(headers)) if problems.is_empty() => {
                Ok(Self { client, url, headers, signature: signature.flatten() })
            }
            _ => Err(problems),
        }
    }
}

fn url_of(text: &str, hosts: &Hosts) -> Result<Url, String> {
    let expected =
        "expected a URL without a name and a password, as in `https://guards.example.com/check`";
    let url = Url::parse(text).map_err(|_| expected)?;
    // A password with a `/` ends the host too early: then the rest has an `@`, and the host is not one.
    let has_user =
        !url.username().is_empty() || url.password().is_some() || url.path().contains('@');
    let host = url.host_str().filter(|host| !host.is_empty() && !has_user).ok_or(expected)?;
    if let Some(why) = why_refused(&url) {
        return Err(why.to_owned());
    }
    if !hosts.allow(&url) {
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        return Err(format!(
            "`{host}{port}` is no host that the program allows, call \
             `allow_hosts([\"{host}{port}\"])` of the builder"
        ));
    }
    Ok(url)
}
