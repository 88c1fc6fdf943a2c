//! Signatures of requests.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use reqwest::header::{HeaderName, HeaderValue};
use sha2::Sha256;

/// The header of a signature.
pub(super) const HEADER: HeaderName = HeaderName::from_static("x-hooks-signature");

/// Signs bodies with a key. It has no `Debug`, which could show the key.
#[derive(Clone)]
pub(super) struct Signature(Hmac<Sha256>);

impl Signature {
    /// Returns `None` if the key is empty.
    pub(super) fn new(key: &[u8]) -> Option<Self> {
        let keyed = Hmac::new_from_slice(key).ok();
        keyed.filter(|_| !key.is_empty()).map(Self)
    }

    // Output: `t=1700000000,v1=9c8f..`
    /// Returns the header of a body that is sent now.
    pub(super) fn of(&self, body: &[u8]) -> Option<HeaderValue> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut mac = self.0.clone();
        mac.update(format!("{now}.").as_bytes());
        mac.update(body);
        let mut header = format!("t={now},v1=");
        for byte in mac.finalize().into_bytes() {
            // Writing to a text does not fail.
            let _ = write!(header, "{byte:02x}");
        }
        HeaderValue::try_from(header).ok()
    }
}
