//! Digests of texts.

use sha2::{Digest as _, Sha256};

/// The first half of a SHA-256.
pub(super) type Digest = [u8; 16];

/// Returns the digest of these parts.
pub(super) fn of(parts: &[&[u8]]) -> Digest {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut digest = Digest::default();
    digest.copy_from_slice(&hasher.finalize()[..16]);
    digest
}

// Input:  `[0x0a, .., 0xff]`
// Output: `0a..ff`
/// Writes a digest as hexadecimal digits.
pub(super) fn written(digest: Digest) -> String {
    format!("{:032x}", u128::from_be_bytes(digest))
}

/// Reads what [`written`] wrote.
pub(super) fn parse(written: &str) -> Option<Digest> {
    u128::from_str_radix(written, 16).ok().map(u128::to_be_bytes)
}
