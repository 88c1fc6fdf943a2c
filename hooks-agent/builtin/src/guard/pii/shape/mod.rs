//! The shapes of personal data. Each file has `at`, which parses around a trigger byte, and `open`,
//! the position from which more text may change what is found. `plain` knows the ends of most texts,
//! where all of them agree.
//!
//! A shape reads a bounded number of bytes around its trigger and depends on nothing else, so that
//! neither a cut of the text nor its length changes what is found.

pub(crate) mod birth;
pub(crate) mod bytes;
pub(crate) mod card;
pub(crate) mod context;
pub(crate) mod coordinates;
pub(crate) mod crypto;
pub(crate) mod email;
pub(crate) mod iban;
pub(crate) mod ip;
pub(crate) mod mac;
pub(crate) mod phone;
pub(crate) mod plain;
pub(crate) mod tld;
pub(crate) mod url;
