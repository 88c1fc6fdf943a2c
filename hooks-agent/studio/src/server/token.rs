//! The token that a browser shows, and the key of workers.

use std::fmt::Write;
use std::io;

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, COOKIE};
use subtle::ConstantTimeEq;

use crate::error::StudioError;

/// How many characters a token has at least.
const LEAST: usize = 16;

/// The token that a browser shows, or the key of workers.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// Takes the token of the program.
    pub(crate) fn checked(token: &str) -> Result<Self, StudioError> {
        Self::of(token).ok_or(StudioError::WeakToken { least: LEAST })
    }

    /// Takes the key by which workers join.
    pub(crate) fn key(key: &str) -> Result<Self, StudioError> {
        Self::of(key).ok_or(StudioError::WeakKey { least: LEAST })
    }

    fn of(text: &str) -> Option<Self> {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "-._~".contains(it);
        let is_strong = text.len() >= LEAST && text.chars().all(is_plain);
        is_strong.then(|| Self(text.to_owned()))
    }

    /// Creates a token of 128 random bits.
    pub(crate) fn random() -> Result<Self, StudioError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .map_err(|error| StudioError::NoRandom(io::Error::other(error.to_string())))?;
        let token = bytes.iter().fold(String::new(), |mut text, byte| {
            // Writing to a text does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
        Ok(Self(token))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether a text is the token, in a time that does not depend on how much of it fits.
    pub(super) fn is(&self, text: &str) -> bool {
        self.0.as_bytes().ct_eq(text.as_bytes()).into()
    }

    /// Returns whether the request has it as a key.
    pub(super) fn is_key(&self, headers: &HeaderMap) -> bool {
        let mut keys = headers.get_all(AUTHORIZATION).iter();
        let key = keys.next().and_then(|it| it.to_str().ok()?.strip_prefix("Bearer "));
        keys.next().is_none() && key.is_some_and(|key| self.is(key))
    }

    /// Returns whether a cookie of this name has the token.
    pub(super) fn is_in(&self, headers: &HeaderMap, cookie: &str) -> bool {
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';'));
        pairs
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(name, value)| name == cookie && self.is(value))
    }
}
