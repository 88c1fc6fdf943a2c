//! Replacements of personal data: strategies, formats, and the keys of hashes.

use std::fmt;
use std::fmt::Write as _;
use std::sync::LazyLock;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::guard::pii::detector::PiiDetector;
use crate::guard::pii::scanner::PiiScanner;

/// What happens to personal data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PiiStrategy {
    /// A token with the kind: `[REDACTED_EMAIL]`.
    #[default]
    Redact,
    /// A part of it: `************0366`. An e-mail address keeps its local part.
    Mask,
    /// A token that is the same for the same value: `<email_hash:…>`.
    Hash,
    /// The text is refused with [`PiiDetected`].
    Block,
}

/// The form of tokens, masks and hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PiiFormat {
    /// Tokens and masks as in `LangChain`; hashes are 16 hexadecimal digits of an HMAC-SHA256, which
    /// cannot be guessed without the [key](PiiHashKey).
    #[default]
    Keyed,
    /// As in `LangChain`'s `PIIMiddleware`: hashes are 8 hexadecimal digits of SHA-256. Anyone can hash
    /// all telephone numbers and compare.
    LangChain,
    /// As in Spring AI Alibaba's `PIIDetectionHook`: names in capitals, `CUSTOM` for kinds that it does
    /// not know, masks with the last four characters, hashes of 32 bits that collide and can be guessed.
    Spring,
}

/// The key of hashes in [`PiiFormat::Keyed`]. `Debug` does not show it.
///
/// A key is changed without a gap by naming the [old](Self::or_old) ones for a time: hashes are written with
/// the new key, and [`PiiReplacement::tokens`] has those of all keys, to look for what was written before.
#[derive(Clone)]
pub struct PiiHashKey {
    key: Vec<u8>,
    /// The keys before, the latest first.
    old: Vec<Vec<u8>>,
}

impl PiiHashKey {
    /// A key of these bytes, 32 random ones at best. The same key gives the same hashes everywhere.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self { key: bytes.into(), old: Vec::new() }
    }

    /// Names a key that was used before.
    #[must_use]
    pub fn or_old(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.old.push(bytes.into());
        self
    }

    /// A random key. Its hashes can be compared with each other only, and by nobody after the program.
    #[must_use]
    pub fn random() -> Self {
        Self::new([Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat())
    }
}

impl fmt::Debug for PiiHashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PiiHashKey(..)")
    }
}

/// The error of a text with personal data that is blocked. It does not contain the data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Detected {count} instance(s) of {kind} in text content")]
pub struct PiiDetected {
    kind: String,
    count: usize,
}

impl PiiDetected {
    /// The kind, as the format writes it.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The kind in the text of such an error.
    pub(in crate::guard) fn kind_in(text: &str) -> Option<&str> {
        text.strip_prefix("Detected 1 instance(s) of ")?.strip_suffix(" in text content")
    }

    /// How often it is in the text. In a stream, how often until it was stopped.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }
}

/// A strategy in a format: what stands for a match.
///
/// | | `Keyed`, `LangChain` | `Spring` |
/// |---|---|---|
/// | redact | `[REDACTED_EMAIL]` | `[REDACTED_EMAIL]`, `[REDACTED_CUSTOM]` |
/// | mask: e-mail | `ana@****.com` | the last four characters |
/// | mask: card | `**** **** **** 0366` | the last four characters |
/// | mask: IPv4, IPv6 | `*.*.*.1`, `****` | the last four characters |
/// | mask: MAC address | `**:**:**:**:**:5E` | the last four characters |
/// | mask: URL | `[MASKED_URL]` | the last four characters |
/// | mask: other | `****2671` | the last four characters |
/// | hash | `<email_hash:…>`, 16 or 8 digits | `<email_hash:…>`, 8 digits |
///
/// ```
/// use hooks_agent::builtin::guard::pii::{PiiFormat, PiiHashKey, PiiReplacement, PiiStrategy};
///
/// let mask = PiiReplacement::new(PiiStrategy::Mask);
/// assert_eq!(mask.replace("credit_card", "4532015112830366").unwrap(), "************0366");
///
/// let hash = PiiReplacement::new(PiiStrategy::Hash).with_key(PiiHashKey::new(*b"a key"));
/// let token = hash.replace("email", "ana@example.com").unwrap();
/// assert_eq!(token.len(), "<email_hash:0123456789abcdef>".len());
///
/// let block = PiiReplacement::new(PiiStrategy::Block);
/// let error = block.detected("email", 2);
/// assert_eq!(error.to_string(), "Detected 2 instance(s) of email in text content");
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PiiReplacement {
    strategy: PiiStrategy,
    format: PiiFormat,
    key: PiiHashKey,
}

impl PiiReplacement {
    /// This strategy in [`PiiFormat::Keyed`], with a random key.
    pub fn new(strategy: PiiStrategy) -> Self {
        Self { strategy, format: PiiFormat::default(), key: PiiHashKey::random() }
    }

    /// Sets the strategy.
    pub fn with_strategy(mut self, strategy: PiiStrategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets the format.
    pub fn with_format(mut self, format: PiiFormat) -> Self {
        self.format = format;
        self
    }

    /// Sets the key of hashes in [`PiiFormat::Keyed`].
    pub fn with_key(mut self, key: PiiHashKey) -> Self {
        self.key = key;
        self
    }

    /// The strategy.
    #[must_use]
    pub fn strategy(&self) -> PiiStrategy {
        self.strategy
    }

    /// Returns what stands for a value of this kind, or `None` if it [blocks](PiiStrategy::Block).
    #[must_use]
    pub fn replace(&self, kind: &str, value: &str) -> Option<String> {
        match self.strategy {
            PiiStrategy::Redact => Some(format!("[REDACTED_{}]", self.name(kind).to_uppercase())),
            PiiStrategy::Mask if self.format == PiiFormat::Spring => Some(keep_four(value)),
            PiiStrategy::Mask => Some(mask(kind, value)),
            PiiStrategy::Hash => Some(self.hash_token(kind, &self.hash(&self.key.key, value))),
            PiiStrategy::Block => None,
        }
    }

    /// Returns what stands for a value of this kind, or stood for it under an [old key](PiiHashKey::or_old):
    /// to find it in texts, logs and stores. Another spelling of the value has other hashes. The first one is that of
    /// [`replace`](Self::replace); none if it blocks.
    ///
    /// ```
    /// use hooks_agent::builtin::guard::pii::{PiiHashKey, PiiReplacement, PiiStrategy};
    ///
    /// let before = PiiReplacement::new(PiiStrategy::Hash).with_key(PiiHashKey::new(*b"old"));
    /// let written = before.replace("email", "ana@example.com").unwrap();
    ///
    /// let key = PiiHashKey::new(*b"new").or_old(*b"old");
    /// let hash = PiiReplacement::new(PiiStrategy::Hash).with_key(key);
    /// let tokens = hash.tokens("email", "ana@example.com");
    /// assert_eq!(tokens[0], hash.replace("email", "ana@example.com").unwrap());
    /// assert_eq!(tokens[1], written);
    /// ```
    #[must_use]
    pub fn tokens(&self, kind: &str, value: &str) -> Vec<String> {
        let mut tokens: Vec<_> = self.replace(kind, value).into_iter().collect();
        if self.strategy == PiiStrategy::Hash && self.format == PiiFormat::Keyed {
            let of = |key: &Vec<u8>| self.hash_token(kind, &self.hash(key, value));
            tokens.extend(self.key.old.iter().map(of));
        }
        tokens
    }

    fn hash_token(&self, kind: &str, hash: &str) -> String {
        format!("<{}_hash:{hash}>", self.name(kind).to_lowercase())
    }

    /// The error of a text that has this kind so many times.
    #[must_use]
    pub fn detected(&self, kind: &str, count: usize) -> PiiDetected {
        PiiDetected { kind: self.name(kind).to_owned(), count }
    }

    /// The name of a kind in this format.
    fn name<'k>(&self, kind: &'k str) -> &'k str {
        match (self.format, kind) {
            (PiiFormat::Keyed | PiiFormat::LangChain, _) => kind,
            (PiiFormat::Spring, "email") => "EMAIL",
            (PiiFormat::Spring, "credit_card") => "CREDIT_CARD",
            (PiiFormat::Spring, "ip") => "IP",
            (PiiFormat::Spring, "mac_address") => "MAC_ADDRESS",
            (PiiFormat::Spring, "url") => "URL",
            (PiiFormat::Spring, _) => "CUSTOM",
        }
    }

    fn hash(&self, key: &[u8], value: &str) -> String {
        match self.format {
            PiiFormat::Keyed => {
                let mac = Hmac::<Sha256>::new_from_slice(key);
                let mut mac = mac.expect("an HMAC takes a key of any length");
                mac.update(value.as_bytes());
                // Some hashes could be taken for the number of a card or of an account.
                let mac = mac.finalize().into_bytes();
                let mut hashes = mac.windows(8).map(hex);
                let is_plain =
                    |hash: &String| longest_number(hash) < 12 && ALL.find(hash, 0).is_none();
                hashes.find(is_plain).unwrap_or_else(|| hex(&mac[..8]))
            }
            PiiFormat::LangChain => hex(&Sha256::digest(value)[..4]),
            PiiFormat::Spring => format!("{:08x}", java_hash(value)),
        }
    }
}

/// Finds what a hash must not look like.
static ALL: LazyLock<PiiScanner> = LazyLock::new(PiiScanner::all);

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The length of the longest run of digits.
fn longest_number(text: &str) -> usize {
    let numbers = text.split(|char: char| !char.is_ascii_digit());
    numbers.map(str::len).max().unwrap_or_default()
}

/// `String.hashCode()` of Java.
fn java_hash(value: &str) -> u32 {
    value.encode_utf16().fold(0, |hash: u32, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

/// The mask of each kind.
fn mask(kind: &str, value: &str) -> String {
    match kind {
        "email" => mask_email(value),
        "credit_card" => mask_card(value),
        "ip" => match value.rsplit_once('.') {
            Some((rest, last)) if rest.split('.').count() == 3 && !value.contains(':') => {
                format!("*.*.*.{last}")
            }
            _ => "****".to_owned(),
        },
        "mac_address" => {
            let separator = if value.contains('-') { '-' } else { ':' };
            let pairs = format!("**{separator}").repeat(5);
            last(value, 2).map_or_else(|| "****".to_owned(), |last| pairs + last)
        }
        "url" => "[MASKED_URL]".to_owned(),
        _ => match last(value, 4) {
            Some(last) if last.len() < value.len() => format!("****{last}"),
            _ => "****".to_owned(),
        },
    }
}

fn mask_email(value: &str) -> String {
    let Some((local, domain)) = value.split_once('@') else { return "****".to_owned() };
    match domain.rsplit_once('.') {
        Some((_, top)) => format!("{local}@****.{top}"),
        None => format!("{local}@****"),
    }
}

fn mask_card(value: &str) -> String {
    let digits: String = value.chars().filter(char::is_ascii_digit).collect();
    let Some(last) = last(&digits, 4) else { return "****".to_owned() };
    let separator = ["-", " "].into_iter().find(|it| value.contains(it)).unwrap_or_default();
    format!("****{separator}****{separator}****{separator}{last}")
}

/// A star for each character but the last four.
fn keep_four(value: &str) -> String {
    let count = value.chars().count();
    match last(value, 4) {
        Some(last) if count > 4 => "*".repeat(count - 4) + last,
        _ => "****".to_owned(),
    }
}

/// The last `count` characters, if there are as many.
fn last(value: &str, count: usize) -> Option<&str> {
    value.char_indices().rev().nth(count - 1).map(|(at, _)| &value[at..])
}
