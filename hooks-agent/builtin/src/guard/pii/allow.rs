//! Values that everybody may know.

use std::collections::BTreeSet;

use crate::guard::fold::{Breaks, FoldedText};

/// Numbers of cards that Stripe, Adyen and others document for tests; no card has them.
const TEST_CARDS: [&str; 22] = [
    "4242424242424242",
    "4000056655665556",
    "5555555555554444",
    "2223003122003222",
    "5200828282828210",
    "5105105105105100",
    "378282246310005",
    "371449635398431",
    "6011111111111117",
    "6011000990139424",
    "3056930009020004",
    "36227206271667",
    "3566002020360505",
    "6200000000000005",
    "4111111111111111",
    "4012888888881881",
    "4000000000000002",
    "4000000000000077",
    "4000000000003220",
    "5454545454545454",
    "4444333322221111",
    "30569309025904",
];

/// Values that are found and left as they are: addresses of your own domains, cards for tests, a number of your
/// company.
///
/// A finding is left if the whole of it is allowed; one that overlaps another is not.
///
/// ```
/// use hooks_agent::builtin::guard::PiiDetection;
/// use hooks_agent::builtin::guard::pii::PiiAllowed;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let allowed = PiiAllowed::new().domain("shop.example").value("+49 30 901820").test_cards();
/// let model = ScriptedModel::new("echo", |request| request.last_text());
/// let hook = PiiDetection::all().allow(allowed);
/// let agent = ReActAgent::builder("assistant").model(model).hook(hook).build()?;
/// let reply = agent.call("Write to help@shop.example or ada@home.example, call +49-30-901820").await?;
/// assert_eq!(reply.text(), "Write to help@shop.example or [REDACTED_EMAIL], call +49-30-901820");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct PiiAllowed {
    /// Without what stands between their letters and digits.
    values: BTreeSet<String>,
    domains: BTreeSet<String>,
}

impl PiiAllowed {
    /// Allows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows a value, however its letters and digits are grouped and in any case.
    pub fn value(mut self, value: impl AsRef<str>) -> Self {
        let value = plain(value.as_ref());
        if !value.is_empty() {
            self.values.insert(value);
        }
        self
    }

    /// Allows the e-mail addresses and the URLs of a domain and of those below it.
    pub fn domain(mut self, domain: impl AsRef<str>) -> Self {
        let domain = domain.as_ref().trim_start_matches(['@', '.']).to_lowercase();
        if !domain.is_empty() {
            self.domains.insert(domain);
        }
        self
    }

    /// Allows the numbers of cards that payment providers document for tests.
    pub fn test_cards(self) -> Self {
        TEST_CARDS.into_iter().fold(self, Self::value)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.domains.is_empty()
    }

    /// Whether what was found may stay.
    pub(crate) fn allows(&self, kind: &str, found: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        let copy = FoldedText::new(found, 0..found.len(), Breaks::Joined);
        let found = String::from_utf8_lossy(copy.text());
        self.values.contains(&plain(&found))
            || host(kind, &found).is_some_and(|host| self.has_domain(&host.to_lowercase()))
    }

    fn has_domain(&self, host: &str) -> bool {
        let is_below = |domain: &String| {
            host.strip_suffix(domain.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        self.domains.iter().any(is_below)
    }
}

/// The host of an address or a URL.
fn host<'a>(kind: &str, found: &'a str) -> Option<&'a str> {
    match kind {
        "email" => found.rsplit_once('@').map(|(_, host)| host),
        "url" => {
            let rest = found.split_once("://").map_or(found, |(_, rest)| rest);
            let authority = rest.split(['/', '?', '#', '\\']).next()?;
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            Some(host.split_once(':').map_or(host, |(host, _)| host))
        }
        _ => None,
    }
}

fn plain(value: &str) -> String {
    let is_kept = |char: &char| char.is_alphanumeric() || matches!(char, '+' | '@');
    value.chars().filter(is_kept).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::PiiAllowed;

    #[test]
    fn a_domain_allows_what_is_below_it_and_nothing_beside_it() {
        let allowed = PiiAllowed::new().domain("@Shop.example");
        for (kind, found) in [
            ("email", "a@shop.example"),
            ("email", "a@mail.SHOP.example"),
            ("url", "https://shop.example/x?u=a@b.c"),
            ("url", "https://user@shop.example:8080/"),
            ("url", "www.shop.example"),
        ] {
            assert!(allowed.allows(kind, found), "{found}");
        }
        for (kind, found) in [
            ("email", "a@bookshop.example"),
            ("email", "shop.example@evil.test"),
            ("url", "https://shop.example@evil.test/"),
            ("url", "https://evil.test/shop.example"),
            ("url", "https://evil.test\\@shop.example"),
            ("phone", "shop.example"),
        ] {
            assert!(!allowed.allows(kind, found), "{found}");
        }
    }

    #[test]
    fn a_value_is_allowed_in_any_grouping_and_nothing_longer() {
        let allowed = PiiAllowed::new().value("+49 30 901820").test_cards();
        assert!(allowed.allows("phone", "+49-30-901820"));
        assert!(allowed.allows("credit_card", "4242 4242 4242 4242"));
        assert!(
            !allowed.allows("phone", "+49 30 9018201") && !allowed.allows("phone", "4930901820")
        );
        assert!(!PiiAllowed::new().value("--").allows("phone", "+-"));
    }
}
