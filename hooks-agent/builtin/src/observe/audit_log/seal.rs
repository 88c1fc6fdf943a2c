//! Hashes, keyed by choice.

use std::fmt::Write;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::observe::audit_log::error::AuditError;

/// The hash that binds lines: SHA-256, or HMAC-SHA256 with a key.
#[derive(Clone)]
pub(super) struct Seal(Option<Hmac<Sha256>>);

/// What is hashed, so that a hash of one kind is none of another.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Line,
    Head,
    Content,
}

impl Seal {
    pub(super) fn new(key: Option<&[u8]>) -> Result<Self, AuditError> {
        let keyed = |key: &[u8]| {
            let keyed = (!key.is_empty()).then(|| Hmac::new_from_slice(key).ok());
            keyed.flatten().ok_or(AuditError::EmptyKey)
        };
        key.map(keyed).transpose().map(Self)
    }

    pub(super) fn name(&self) -> &'static str {
        if self.0.is_some() { "hmac_sha256" } else { "sha256" }
    }

    /// Returns the hash as hexadecimal text. Without a key, that of content is its plain SHA-256.
    pub(super) fn of(&self, kind: Kind, bytes: &[u8]) -> String {
        let prefix: &[u8] = match (kind, &self.0) {
            (Kind::Content, None) => b"",
            (Kind::Content, Some(_)) => b"content\0",
            (Kind::Line, _) => b"line\0",
            (Kind::Head, _) => b"head\0",
        };
        match &self.0 {
            Some(keyed) => {
                let mut keyed = keyed.clone();
                keyed.update(prefix);
                keyed.update(bytes);
                hex(&keyed.finalize().into_bytes())
            }
            None => hex(&Sha256::new().chain_update(prefix).chain_update(bytes).finalize()),
        }
    }

    /// Returns what stands for content: its size and its hash, and itself by choice.
    pub(super) fn digest(&self, content: &Value, has_content: bool) -> Value {
        let text = match content {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        let mut digest = json!({ "bytes": text.len() });
        digest[self.name()] = self.of(Kind::Content, text.as_bytes()).into();
        if has_content {
            digest["content"] = content.clone();
        }
        digest
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
