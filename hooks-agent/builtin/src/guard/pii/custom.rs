//! Custom detectors: a regular expression or a closure.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use crate::guard::pii::detector::{PiiDetector, PiiMatch};

/// The most bytes of a compiled expression, and of the cache that each search may use.
const SIZE_LIMIT: usize = 1 << 20;

/// The error of a [`PiiPattern`] that cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PiiPatternError {
    /// The expression is malformed or larger than 1 MiB when compiled.
    #[error("the pattern of `{kind}` cannot be used")]
    Regex {
        /// The kind of data that it is for.
        kind: String,
        /// What is wrong, with the place in the pattern.
        source: regex::Error,
    },
    /// The expression matches the empty string, which is in every text.
    #[error("the pattern of `{kind}` matches the empty text")]
    MatchesEmpty {
        /// The kind of data that it is for.
        kind: String,
    },
}

/// Finds what a regular expression matches, in linear time.
///
/// `\b` is Unicode here; write `(?-u:\b)` for boundaries that CJK text does not hide. A match and what
/// its boundaries read must fit into the [`window`](Self::with_window), 128 characters by default:
/// what is longer may be missed when a text arrives in parts.
///
/// ```
/// use hooks_agent::builtin::guard::pii::{PiiDetector, PiiPattern};
///
/// let keys = PiiPattern::new("api_key", "sk-[a-zA-Z0-9]{32}")?;
/// let found = keys.find("Key: sk-abcdefghijklmnopqrstuvwxyz123456", 0).unwrap();
/// assert_eq!((&*found.kind, found.range), ("api_key", 5..40));
///
/// let error = PiiPattern::new("api_key", "sk-[").unwrap_err();
/// assert_eq!(error.to_string(), "the pattern of `api_key` cannot be used");
/// # Ok::<(), hooks_agent::builtin::guard::pii::PiiPatternError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PiiPattern {
    kind: Cow<'static, str>,
    regex: Regex,
    window: usize,
}

impl PiiPattern {
    /// Compiles a pattern for this kind of data.
    ///
    /// # Errors
    ///
    /// Fails if the pattern is malformed, is larger than 1 MiB when compiled, or matches the empty text.
    pub fn new(kind: impl Into<Cow<'static, str>>, pattern: &str) -> Result<Self, PiiPatternError> {
        let kind = kind.into();
        let mut builder = RegexBuilder::new(pattern);
        let regex = builder.size_limit(SIZE_LIMIT).dfa_size_limit(SIZE_LIMIT).build();
        let regex = regex
            .map_err(|source| PiiPatternError::Regex { kind: kind.clone().into_owned(), source })?;
        if regex.find("").is_some() {
            return Err(PiiPatternError::MatchesEmpty { kind: kind.into_owned() });
        }
        Ok(Self { kind, regex, window: 128 })
    }

    /// Sets the most characters of a match, with what is read before and after it.
    pub fn with_window(mut self, characters: usize) -> Self {
        self.window = characters;
        self
    }
}

impl PiiDetector for PiiPattern {
    fn find(&self, text: &str, from: usize) -> Option<PiiMatch> {
        let mut at = from;
        loop {
            let found = self.regex.find_at(text, at)?;
            if !found.is_empty() {
                return Some(PiiMatch::new(self.kind.clone(), found.range()));
            }
            // A boundary such as `\b` matches nothing at a place where the text is not empty.
            at = found.end() + text[found.end()..].chars().next()?.len_utf8();
        }
    }

    fn id(&self) -> Option<String> {
        Some(format!("{} {} {}", self.window, self.kind, self.regex))
    }

    fn window(&self) -> usize {
        self.window
    }
}

type Find = dyn Fn(&str) -> Vec<PiiMatch> + Send + Sync;

/// Finds what a closure finds. Each match has a kind of its own.
///
/// The closure receives the whole text that is known so far, a part of a stream too. A match must fit
/// into the [`window`](Self::with_window). Empty ranges are ignored; ranges outside of the text or
/// inside of a character are made to fit.
///
/// ```
/// use hooks_agent::builtin::guard::pii::{PiiCallback, PiiDetector, PiiMatch};
///
/// let names = PiiCallback::new(|text| {
///     text.match_indices("Ada").map(|(at, it)| PiiMatch::new("name", at..at + it.len())).collect()
/// });
/// assert_eq!(names.find("by Ada", 0).unwrap().range, 3..6);
/// ```
#[derive(Clone)]
#[must_use]
pub struct PiiCallback {
    find: Arc<Find>,
    window: usize,
}

impl PiiCallback {
    /// A detector from a closure that returns all matches of a text.
    pub fn new(find: impl Fn(&str) -> Vec<PiiMatch> + Send + Sync + 'static) -> Self {
        Self { find: Arc::new(find), window: 128 }
    }

    /// Sets the most characters of a match, with what is read before and after it.
    pub fn with_window(mut self, characters: usize) -> Self {
        self.window = characters;
        self
    }

    /// The matches from `from` on, sorted by start.
    fn found(&self, text: &str, from: usize) -> Vec<PiiMatch> {
        let found = (self.find)(text).into_iter().filter_map(|found| found.fitted(text));
        let mut found: Vec<_> = found.filter(|found| found.range.start >= from).collect();
        found.sort_by_key(|found| found.range.start);
        found
    }
}

impl PiiDetector for PiiCallback {
    fn find(&self, text: &str, from: usize) -> Option<PiiMatch> {
        self.found(text, from).into_iter().next()
    }

    fn scan(&self, text: &str, from: usize, found: &mut Vec<PiiMatch>) {
        found.extend(self.found(text, from));
    }

    fn window(&self) -> usize {
        self.window
    }
}

impl fmt::Debug for PiiCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PiiCallback").field("window", &self.window).finish_non_exhaustive()
    }
}
