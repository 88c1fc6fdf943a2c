//! The finders that a tape has by default.

use std::sync::LazyLock;

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

    /// Finds keys of providers, tokens, private keys, and what follows words such as `password`, as
    /// `secret`; also the text of a field of such a name.
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

/// Keys by their form: of providers of models and clouds, of code hosts and chats; tokens of three parts;
/// private keys.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?-u:\b)(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}",
        r"|(?:sk|pk|rk)[-_][A-Za-z_-]*[0-9][A-Za-z0-9_-]{8,}",
        r"|(?:AKIA|ASIA)[0-9A-Z]{16}",
        r"|gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}",
        r"|xox[abeoprs]-[A-Za-z0-9-]{10,}",
        r"|AIza[A-Za-z0-9_-]{30,}",
        r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    ))
});

/// What follows a word that announces a secret.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"(?i)(?:api[_ -]?key|secret(?:[_ -]?key)?|passw(?:or)?d|passphrase|(?:access|auth)[_ -]?token"#,
        r#"|authorization)\\?["']?\s*(?:[:=]|\bis\b)\s*\\?["']?(?:Bearer\s+|Basic\s+)?([^\s"',;<>\\]{6,})"#,
        r#"|\bBearer\s+([A-Za-z0-9._~+/=-]{12,})"#,
    ))
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
                let named = NAMED.captures_iter(text).filter_map(|it| it.get(1).or(it.get(2)));
                TOKEN.find_iter(text).chain(named).map(found).collect()
            }
        }
    }

    fn field(&self, name: &str) -> Option<String> {
        let is_secret = self.0 == Kind::Secret && FIELD.is_match(name);
        is_secret.then(|| self.name().to_owned())
    }
}
