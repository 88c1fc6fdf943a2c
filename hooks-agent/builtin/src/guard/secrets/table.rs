//! The table of the forms of keys and tokens of providers.

use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::guard::bech32::is_bech32;
use crate::guard::secrets::values::entropy;

/// The table, in the order of names.
pub(super) static TABLE: LazyLock<Table<'static>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("kinds.json")).expect("the table is tested")
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table<'a> {
    pub(super) version: u32,
    #[serde(borrow)]
    pub(super) kinds: Vec<Row<'a>>,
}

/// A kind of keys or tokens of a provider.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row<'a> {
    pub(super) name: &'a str,
    pub(super) provider: &'a str,
    /// Texts of which a key has one.
    #[serde(default, borrow)]
    pub(super) literals: Vec<&'a str>,
    /// Words of which the name has one that a key is assigned to.
    #[serde(default, borrow)]
    pub(super) beside: Vec<&'a str>,
    /// The regular expression of a key.
    form: &'a str,
    /// The least entropy of a key, in bits a character.
    #[serde(default)]
    entropy: f64,
    #[serde(default)]
    check: Option<Check>,
    /// Keys that the provider shows to everybody, as in examples: the first 16 digits of their SHA-256.
    #[serde(default, borrow)]
    published: Vec<&'a str>,
    /// Who describes the form.
    pub(super) source: &'a str,
    #[serde(skip)]
    compiled: OnceLock<Regex>,
}

/// What a key has beside its form.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Check {
    /// The last six characters are the CRC32 of those behind the first `_`, in base 62.
    #[serde(rename = "crc32_base62")]
    Crc32Base62,
    /// Its checksum is that of Bech32.
    Bech32,
    /// A digit, without which it is a word.
    HasDigit,
}

impl Row<'_> {
    pub(super) fn form(&self) -> &Regex {
        self.compiled.get_or_init(|| {
            RegexBuilder::new(self.form).unicode(false).build().expect("the table is tested")
        })
    }

    /// Whether a text of the form is more than a placeholder.
    pub(super) fn takes(&self, key: &[u8]) -> bool {
        let has_digit = || key.iter().any(u8::is_ascii_digit);
        let is_published = || {
            let digest = Sha256::digest(key);
            let digest = u64::from_be_bytes(std::array::from_fn(|at| digest[at]));
            self.published.contains(&&*format!("{digest:016x}"))
        };
        if !self.published.is_empty() && is_published() {
            return false;
        }
        entropy(key) >= self.entropy
            && (!matches!(self.check, Some(Check::HasDigit)) || has_digit())
    }

    /// Whether the checksum is wrong, if keys of this kind have one.
    pub(super) fn is_wrong(&self, key: &[u8]) -> bool {
        match self.check {
            None | Some(Check::HasDigit) => false,
            Some(Check::Bech32) => !is_bech32(key),
            Some(Check::Crc32Base62) => !has_crc32(key),
        }
    }
}

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn has_crc32(key: &[u8]) -> bool {
    let Some(start) = key.iter().rposition(|byte| *byte == b'_').map(|at| at + 1) else {
        return false;
    };
    let Some(end) = key.len().checked_sub(6).filter(|end| *end > start) else { return false };
    let mut sum = crc32(&key[start..end]);
    let mut digits = [0; 6];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(sum % 62) as usize];
        sum /= 62;
    }
    key[end..] == digits
}

/// The checksum of Ethernet and zip files.
fn crc32(bytes: &[u8]) -> u32 {
    let shift = |sum: u32| if sum & 1 == 1 { (sum >> 1) ^ 0xEDB8_8320 } else { sum >> 1 };
    let next = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| shift(sum));
    !bytes.iter().fold(u32::MAX, next)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{TABLE, crc32, has_crc32};

    #[test]
    fn each_row_has_a_form_that_compiles_a_source_and_a_way_to_it() {
        let mut names = HashSet::new();
        let mut providers = HashSet::new();
        for row in &TABLE.kinds {
            row.form();
            assert!(names.insert(row.name), "{}", row.name);
            assert!(row.source.starts_with("https://"), "{}", row.name);
            assert_ne!(row.literals.is_empty(), row.beside.is_empty(), "{}", row.name);
            assert!(row.literals.iter().all(|literal| literal.len() >= 3), "{}", row.name);
            providers.insert(row.provider);
        }
        assert!(TABLE.version > 0);
        assert!(providers.len() >= 120, "{}", providers.len());
    }

    #[test]
    fn checksums_of_tokens_are_known() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        // Of the description of the format by GitHub: a token that is revoked.
        assert!(has_crc32(b"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"));
        assert!(!has_crc32(b"ghp_zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq18"));
        assert!(!has_crc32(b"ghp_1") && !has_crc32(b""));
    }
}
