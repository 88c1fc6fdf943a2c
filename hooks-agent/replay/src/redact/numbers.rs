//! The numbers of placeholders.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

static PLACEHOLDER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"<([a-z0-9_-]+):([0-9]{1,6})>").expect("the pattern is tested"));

/// The numbers of the texts that were found, by kind. They start at 1 in each thread.
#[derive(Debug, Default)]
pub(super) struct Numbers(HashMap<String, OfKind>);

#[derive(Debug, Default)]
struct OfKind {
    numbers: HashMap<String, u32>,
    last: u32,
}

impl Numbers {
    /// Notes the placeholders that a text has: in a replay, those that the tape gave to the agent.
    pub(super) fn see(&mut self, text: &str) {
        if !text.contains('<') {
            return;
        }
        for placeholder in PLACEHOLDER.captures_iter(text) {
            let of_kind = self.0.entry(placeholder[1].to_owned()).or_default();
            of_kind.last = of_kind.last.max(placeholder[2].parse().unwrap_or(0));
        }
    }

    /// Returns what stands in place of a text.
    pub(super) fn placeholder(&mut self, kind: &str, found: &str) -> String {
        let of_kind = self.0.entry(kind.to_owned()).or_default();
        let number = match of_kind.numbers.get(found) {
            Some(number) => *number,
            None => {
                of_kind.last += 1;
                of_kind.numbers.insert(found.to_owned(), of_kind.last);
                of_kind.last
            }
        };
        format!("<{kind}:{number}>")
    }
}
