//! Finds links that must not stay.

use std::sync::Arc;

use hooks_agent_core::model::{Find, Finding, Rewriter};

use crate::egress::places::next_place;
use crate::egress::private::{ListedLink, Private};
use crate::egress::scan::{Listed, Scan, Scanned};
use crate::expression::HostPattern;

/// What stands in place of a link.
const REMOVED: &str = "about:blank#removed";

/// Finds links to hosts that are not listed, and those to listed hosts that carry private text.
#[derive(Clone)]
pub(super) struct Links {
    hosts: Arc<[HostPattern]>,
    private: Option<Arc<Private>>,
}

impl Links {
    pub(super) fn new(hosts: Arc<[HostPattern]>, private: Option<Arc<Private>>) -> Self {
        Self { hosts, private }
    }

    /// Returns a rewriter for finders of these hosts and private tools. It has one id whatever was read: a text that was
    /// decided on before something private was read says nothing of it.
    pub(super) fn rewriter(self, private_tools: &[String]) -> Rewriter {
        let id = format!("egress/{:?}/{private_tools:?}", self.hosts);
        Rewriter::new(self).known_as(id)
    }

    fn at(&self, text: &str, at: usize, is_final: bool) -> Scanned {
        let private = self.private.as_deref();
        let scan = Scan { hosts: &self.hosts, reads_listed: private.is_some(), is_final };
        match (scan.at(text, at), private) {
            (Scanned::Listed(listed), Some(private)) => {
                if private.carries(listed_link(&listed, text, &self.hosts)) {
                    Scanned::Link(listed.link)
                } else {
                    Scanned::Nothing
                }
            }
            (found, _) => found,
        }
    }
}

impl Find for Links {
    fn find(&self, text: &str, from: usize) -> Option<Finding> {
        let mut at = from;
        while let Some(place) = next_place(text, at) {
            if let Scanned::Link(range) = self.at(text, place, true) {
                return Some(Finding::Replace { range, text: REMOVED.to_owned() });
            }
            at = place + 1;
        }
        None
    }

    fn settled(&self, text: &str, from: usize) -> usize {
        let mut at = from;
        while let Some(place) = next_place(text, at) {
            match self.at(text, place, false) {
                Scanned::Open => return place,
                Scanned::Link(range) => at = range.end,
                Scanned::Nothing | Scanned::Listed(_) => at = place + 1,
            }
        }
        text.len()
    }
}

/// Calls `found` with each link to a listed host in a text.
pub(super) fn each_listed_link(
    text: &str,
    hosts: &[HostPattern],
    mut found: impl FnMut(ListedLink<'_>),
) {
    let scan = Scan { hosts, reads_listed: true, is_final: true };
    let mut at = 0;
    while let Some(place) = next_place(text, at) {
        if let Scanned::Listed(listed) = scan.at(text, place) {
            found(listed_link(&listed, text, hosts));
        }
        at = place + 1;
    }
}

fn listed_link<'a>(listed: &'a Listed, text: &'a str, hosts: &[HostPattern]) -> ListedLink<'a> {
    let host = listed.host.as_str();
    let open_parts = hosts.iter().filter_map(|it| it.open_part(host));
    let open_part = open_parts.min_by_key(|it| it.len()).unwrap_or(host);
    ListedLink { host, open_part, rest: &text[listed.rest.clone()] }
}
