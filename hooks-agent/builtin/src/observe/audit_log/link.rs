//! One line of the log, as a link of its chain.

use serde::Deserialize;

use crate::observe::audit_log::seal::{Kind, Seal};

/// What stands before the hash of a line, which ends it.
const HASH: &[u8] = br#","hash":""#;
const END: &[u8] = br#""}"#;
const HASH_LEN: usize = 64;

/// The place in the chain: the number of lines, and the hash of the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) seq: u64,
    pub(super) hash: String,
}

/// The fields that bind a line.
#[derive(Deserialize)]
pub(super) struct Link {
    pub(super) seq: u64,
    pub(super) prev: String,
    #[serde(default)]
    pub(super) event: String,
    /// The hash of the log, in the first line after it was opened.
    #[serde(default)]
    pub(super) sealed_by: Option<String>,
    /// What a kill left of a line, in the first line after it was opened.
    #[serde(default)]
    pub(super) torn_bytes: u64,
    #[serde(skip)]
    pub(super) hash: String,
}

impl Place {
    /// The place before the first line.
    pub(super) fn start() -> Self {
        Self { seq: 0, hash: "0".repeat(HASH_LEN) }
    }

    /// Returns the next line, with its line feed, and its place. `fields` are those of a JSON object,
    /// without the braces.
    pub(super) fn next(&self, fields: &str, seal: &Seal) -> (Vec<u8>, Self) {
        let seq = self.seq + 1;
        let body = format!(r#"{{"seq":{seq},{fields},"prev":"{}""#, self.hash);
        let hash = seal.of(Kind::Line, body.as_bytes());
        let line = [body.as_bytes(), HASH, hash.as_bytes(), END, b"\n"].concat();
        (line, Self { seq, hash })
    }
}

impl Link {
    /// Reads a line, without its line feed. `None` if it is not one whose hash is its own.
    pub(super) fn read(text: &[u8], seal: &Seal) -> Option<Self> {
        let (link, body) = Self::parse(text)?;
        (seal.of(Kind::Line, body) == link.hash).then_some(link)
    }

    /// Reads a line of any key, and the part of it that is hashed.
    pub(super) fn parse(text: &[u8]) -> Option<(Self, &[u8])> {
        let text = text.strip_suffix(END)?;
        let (body, hash) = text.split_at_checked(text.len().checked_sub(HASH_LEN)?)?;
        let body = body.strip_suffix(HASH)?;
        let link: Self = serde_json::from_slice(&[body, b"}"].concat()).ok()?;
        let hash = String::from_utf8(hash.to_owned()).ok()?;
        Some((Self { hash, ..link }, body))
    }

    pub(super) fn follows(&self, place: &Place) -> bool {
        self.seq == place.seq + 1 && self.prev == place.hash
    }

    pub(super) fn place(self) -> Place {
        Place { seq: self.seq, hash: self.hash }
    }
}
