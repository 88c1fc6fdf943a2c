//! The hosts that a rule lists.

use serde_json::Value;

use crate::expression::{HostPattern, host_of};

/// The arguments that are URLs, and the hosts that they may have.
#[derive(Debug)]
pub(crate) struct Hosts {
    pub(super) args: Vec<String>,
    pub(super) allow: Vec<HostPattern>,
}

/// Whether a host is one that a rule does not list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostOutcome {
    Listed,
    /// A value may be what a guard has put in place of a URL, such as `[URL_1]`.
    Token,
    Other,
}

impl Hosts {
    /// Checks the URLs in the arguments. An argument that is not there is no URL that is reached.
    pub(crate) fn check(&self, args: &Value) -> HostOutcome {
        let mut outcome = HostOutcome::Listed;
        for path in &self.args {
            let found = path.split('.').try_fold(args, |value, field| value.get(field));
            match found.map_or(HostOutcome::Listed, |value| self.check_value(value)) {
                HostOutcome::Other => return HostOutcome::Other,
                HostOutcome::Token => outcome = HostOutcome::Token,
                HostOutcome::Listed => {}
            }
        }
        outcome
    }

    fn check_value(&self, value: &Value) -> HostOutcome {
        match value {
            Value::Null => HostOutcome::Listed,
            Value::String(url) => match host_of(url) {
                None if url.contains('[') => HostOutcome::Token,
                Some(host) if self.allow.iter().any(|it| it.is_match(&host)) => HostOutcome::Listed,
                None | Some(_) => HostOutcome::Other,
            },
            Value::Array(values) => {
                let outcomes = values.iter().map(|value| self.check_value(value));
                outcomes.max_by_key(|outcome| *outcome as u8).unwrap_or(HostOutcome::Listed)
            }
            _ => HostOutcome::Other,
        }
    }
}
