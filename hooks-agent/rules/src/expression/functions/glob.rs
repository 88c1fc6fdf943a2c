//! Globs of names and of texts.

use globset::{GlobBuilder, GlobMatcher};

use crate::expression::values::fault::Fault;

/// Compiles a glob such as `pay_*`.
pub(crate) fn glob(pattern: &str) -> Result<GlobMatcher, String> {
    // An empty pattern matches an empty name alone, which is nothing that anybody means.
    if pattern.is_empty() {
        return Err("expected a glob such as `pay_*`, found an empty text".to_owned());
    }
    let glob = GlobBuilder::new(pattern).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| format!("invalid glob: {}", error.kind()))
}

/// A glob that is known when an expression runs.
pub(crate) struct GlobOf;

impl GlobOf {
    /// What compiling one is worth.
    pub(crate) const STEPS: usize = 1000;
    const MOST_BYTES: usize = 128;

    pub(crate) fn is_match(pattern: &str, text: &str) -> Result<bool, Fault> {
        if pattern.len() > Self::MOST_BYTES {
            return Err(Fault::new("a glob has at most 128 bytes"));
        }
        Ok(glob(pattern).map_err(Fault::new)?.is_match(text))
    }
}
