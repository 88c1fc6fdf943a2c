//! The hosts that a rule lists.

use serde_json::Value;

use crate::expression::{HostPattern, plain_host_of};

/// The arguments that are URLs, and the hosts that they may have.
#[derive(Debug)]
pub(crate) struct Hosts {
    pub(super) args: Vec<String>,
    pub(super) allow: Vec<HostPattern>,
}

/// Whether a host is one that a rule does not list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
            match self.check_path(args, path) {
                HostOutcome::Other => return HostOutcome::Other,
                HostOutcome::Token => outcome = HostOutcome::Token,
                HostOutcome::Listed => {}
            }
        }
        outcome
    }

    /// Checks what stands at a path such as `requests.url`, of each item of a list on the way.
    fn check_path(&self, value: &Value, path: &str) -> HostOutcome {
        let (field, rest) = match path.split_once('.') {
            Some((field, rest)) => (field, Some(rest)),
            None => (path, None),
        };
        match (value, rest) {
            (Value::Null, _) => HostOutcome::Listed,
            (Value::Array(values), _) => {
                strictest(values.iter().map(|it| self.check_path(it, path)))
            }
            (Value::Object(fields), rest) => match (fields.get(field), rest) {
                (None, _) => HostOutcome::Listed,
                (Some(value), Some(rest)) => self.check_path(value, rest),
                (Some(value), None) => self.check_value(value),
            },
            // Another shape than the rule was written for.
            _ => HostOutcome::Other,
        }
    }

    fn check_value(&self, value: &Value) -> HostOutcome {
        match value {
            Value::Null => HostOutcome::Listed,
            Value::String(url) => match plain_host_of(url) {
                None if url.contains('[') => HostOutcome::Token,
                Some(host) if self.allow.iter().any(|it| it.is_match(&host)) => HostOutcome::Listed,
                None | Some(_) => HostOutcome::Other,
            },
            Value::Array(values) => strictest(values.iter().map(|it| self.check_value(it))),
            _ => HostOutcome::Other,
        }
    }
}

fn strictest(outcomes: impl Iterator<Item = HostOutcome>) -> HostOutcome {
    outcomes.max().unwrap_or(HostOutcome::Listed)
}
