//! The keys that seal data.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, Generate, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use uuid::Uuid;

/// A key of a [`Vault`](crate::guard::Vault), with the id by which stored data names it.
///
/// 32 random bytes from where the program keeps its secrets; `openssl rand -hex 32` makes some. `Debug`
/// shows the id alone.
///
/// ```
/// use hooks_agent::builtin::guard::VaultKey;
///
/// # let bytes = [7; 32];
/// let key = VaultKey::new("summer", bytes);
/// assert_eq!(format!("{key:?}"), r#"VaultKey("summer")"#);
/// ```
#[derive(Clone)]
pub struct VaultKey {
    id: Arc<str>,
    seal: [u8; 32],
    name: [u8; 32],
}

/// Data as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sealed {
    /// The id of the key.
    pub(super) key: String,
    /// The nonce and the sealed data, in Base64.
    sealed: String,
}

const NONCE: usize = 24;

impl VaultKey {
    /// Creates a key from its bytes.
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>, bytes: [u8; 32]) -> Self {
        let of = |purpose: &str| hash(&bytes, &[purpose.as_bytes()]);
        Self { id: id.into(), seal: of("seal"), name: of("name") }
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Creates a key that nobody else has.
    pub(super) fn random() -> Self {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(Uuid::new_v4().as_bytes());
        bytes[16..].copy_from_slice(Uuid::new_v4().as_bytes());
        Self::new(Uuid::new_v4().to_string(), bytes)
    }

    /// Returns a number for a text, which nobody without the key can tell.
    pub(super) fn number(&self, parts: &[&[u8]]) -> u64 {
        let digest = hash(&self.name, parts);
        digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Seals data for a place. Returns `None` if it cannot be sealed.
    pub(super) fn seal(&self, place: &str, data: &str) -> Option<Sealed> {
        let nonce = XNonce::try_generate().ok()?;
        let payload = Payload { msg: data.as_bytes(), aad: place.as_bytes() };
        let sealed = self.cipher().encrypt(&nonce, payload).ok()?;
        let sealed = STANDARD.encode([&nonce[..], &sealed].concat());
        Some(Sealed { key: self.id.to_string(), sealed })
    }

    /// Opens data that was sealed for a place with this key. Returns `None` if it was not.
    pub(super) fn open(&self, place: &str, sealed: &Sealed) -> Option<String> {
        let bytes = STANDARD.decode(&sealed.sealed).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE)?;
        let payload = Payload { msg: sealed, aad: place.as_bytes() };
        let data = self.cipher().decrypt(&XNonce::try_from(nonce).ok()?, payload).ok()?;
        String::from_utf8(data).ok()
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.seal.into())
    }
}

/// Hashes parts, each with its length, so that no two lists of parts are the same text.
fn hash(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    // A key of less than a block is padded with zeros.
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new(&block.into());
    for part in parts {
        mac.update(&(part.len() as u64).to_le_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

impl fmt::Debug for VaultKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VaultKey").field(&self.id).finish()
    }
}
