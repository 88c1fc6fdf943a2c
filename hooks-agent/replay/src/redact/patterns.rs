//! The finders that a tape has by default.

use std::sync::LazyLock;

use hooks_agent_builtin::guard::SecretScanner;
use hooks_agent_builtin::guard::pii::PiiDetector;
use regex::Regex;

use crate::redact::find::{Found, Redact};

/// A finder by patterns: of addresses of e-mail, or of keys and passwords. A tape has both by default.
///
/// It finds what has the form of one. A password without a word such as `password` before it, or an
/// address that is spelt out, stays: name what else your texts have by
/// [`TapeBuilder::redact`](crate::TapeBuilder::redact).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patterns(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Email,
    Secret,
}

impl Patterns {
    /// Finds addresses of e-mail, as `email`.
    #[must_use]
    pub fn emails() -> Self {
        Self(Kind::Email)
    }

    /// Finds what a [`SecretScanner`] finds, as `secret`: keys of providers, tokens, private keys, values of names
    /// such as `password`; also the text of a field of such a name. The version of its table is in the header of
    /// the tape.
    #[must_use]
    pub fn secrets() -> Self {
        Self(Kind::Secret)
    }

    fn name(self) -> &'static str {
        match self.0 {
            Kind::Email => "email",
            Kind::Secret => "secret",
        }
    }
}

static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"[\w.!#$%&'*+/=?^`{|}~-]+@[\w](?:[\w-]*[\w])?(?:\.[\w](?:[\w-]*[\w])?)+")
});

static FIELD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)^(?:.*[_-])?(?:api[_-]?key|secret(?:[_-]?key)?|passw(?:or)?d|passphrase",
        r"|(?:access|auth|refresh)[_-]?token|private[_-]?key|authorization)$",
    ))
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is tested")
}

impl Redact for Patterns {
    fn kinds(&self) -> Vec<String> {
        vec![self.name().to_owned()]
    }

    fn find(&self, text: &str) -> Vec<Found> {
        let found = |at: regex::Match<'_>| Found::new(at.range(), self.name());
        match self.0 {
            Kind::Email if text.contains('@') => EMAIL.find_iter(text).map(found).collect(),
            Kind::Email => Vec::new(),
            Kind::Secret => {
                let mut secrets = Vec::new();
                SecretScanner::new().with_cut_keys().scan(text, 0, &mut secrets);
                secrets.into_iter().map(|secret| Found::new(secret.range, self.name())).collect()
            }
        }
    }

    fn version(&self) -> Option<u32> {
        (self.0 == Kind::Secret).then(SecretScanner::version)
    }

    fn field(&self, name: &str) -> Option<String> {
        let is_secret = self.0 == Kind::Secret && FIELD.is_match(name);
        is_secret.then(|| self.name().to_owned())
    }
}
