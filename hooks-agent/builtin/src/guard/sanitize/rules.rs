//! The patterns, and what they make of a text.

use std::ops::Range;

use hooks_core::BoxError;
use regex::{Regex, RegexBuilder};

use crate::guard::fold::{Breaks, FoldedText};

/// How often the rules are applied to what they made of a text, before it is refused.
const MOST_PASSES: usize = 8;

/// The limit of a compiled pattern, in bytes.
const PATTERN_LIMIT: usize = 1 << 20;

/// Why a pattern of [`Sanitize`](crate::guard::Sanitize) is not valid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SanitizeError {
    /// It is no regular expression, or one that is too large.
    #[error("the pattern `{pattern}` is not valid or too large")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        source: BoxError,
    },
    /// It matches the empty text, so it would match everywhere.
    #[error("the pattern `{pattern}` matches the empty text: use `+` in place of `*`")]
    MatchesEmpty {
        /// The pattern.
        pattern: String,
    },
}

/// A pattern and its replacement.
#[derive(Clone)]
struct Rule {
    pattern: Regex,
    replacement: String,
}

#[derive(Clone, Default)]
pub(super) struct Rules(Vec<Rule>);

impl Rules {
    pub(super) fn add(&mut self, pattern: &str, replacement: String) -> Result<(), SanitizeError> {
        let built = RegexBuilder::new(pattern).size_limit(PATTERN_LIMIT).build();
        let built = built.map_err(|error| SanitizeError::Pattern {
            pattern: pattern.to_owned(),
            source: error.into(),
        })?;
        if built.is_match("") {
            return Err(SanitizeError::MatchesEmpty { pattern: pattern.to_owned() });
        }
        self.0.push(Rule { pattern: built, replacement });
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Replaces all matches in a text of at most `limit` bytes, or returns why it cannot. `None` is a
    /// text without matches.
    ///
    /// The rules are applied until nothing changes, so that a removal that joins two parts to a match
    /// leaves none, and a second run changes nothing.
    pub(super) fn apply(&self, text: &str, limit: usize) -> Result<Option<String>, String> {
        let mut changed: Option<String> = None;
        for _ in 0..MOST_PASSES {
            let before = changed.as_deref().unwrap_or(text);
            if before.len() > limit {
                return Err(format!("it is longer than {limit} bytes"));
            }
            match self.pass(before, limit)? {
                Some(after) => changed = Some(after),
                None => return Ok(changed),
            }
        }
        Err(format!("its replacements still match after {MOST_PASSES} rounds"))
    }

    fn pass(&self, text: &str, limit: usize) -> Result<Option<String>, String> {
        let mut changed: Option<String> = None;
        for rule in &self.0 {
            let now = changed.as_deref().unwrap_or(text);
            if let Some(after) = self.replace(rule, now, limit)? {
                changed = Some(after);
            }
        }
        Ok(changed)
    }

    /// Applies one rule. A match inside of a replacement is the program's own text and stays.
    fn replace(&self, rule: &Rule, text: &str, limit: usize) -> Result<Option<String>, String> {
        let found = matches(&rule.pattern, text);
        if found.is_empty() {
            return Ok(None);
        }
        let own = self.replacements(text);
        let mut out = String::new();
        let mut copied = 0;
        for found in found.iter().filter(|found| !own.contains(found)) {
            out.push_str(&text[copied..found.start]);
            out.push_str(&rule.replacement);
            copied = found.end;
            if out.len() > limit {
                return Err(format!("its replacements are longer than {limit} bytes"));
            }
        }
        if copied == 0 {
            return Ok(None);
        }
        out.push_str(&text[copied..]);
        Ok(Some(out))
    }

    /// Returns where replacements are in a text, in order.
    fn replacements(&self, text: &str) -> Own {
        let texts = self.0.iter().map(|rule| &rule.replacement).filter(|text| !text.is_empty());
        let found = texts.flat_map(|own| text.match_indices(own.as_str()));
        let mut ranges: Vec<_> = found.map(|(at, own)| (at, at + own.len())).collect();
        ranges.sort_unstable();
        let mut farthest = 0;
        for (_, end) in &mut ranges {
            farthest = farthest.max(*end);
            *end = farthest;
        }
        Own(ranges)
    }
}

/// Returns the matches of a pattern in the text, and those in its usual form that overlap none of them, in
/// order.
fn matches(pattern: &Regex, text: &str) -> Vec<Range<usize>> {
    let in_text = |text| pattern.find_iter(text).map(|it| it.range()).filter(|it| !it.is_empty());
    let mut found: Vec<_> = in_text(text).collect();
    let copy = FoldedText::new(text, 0..text.len(), Breaks::Kept);
    let Some(usual) = std::str::from_utf8(copy.text()).ok().filter(|_| copy.differs()) else {
        return found;
    };
    let written = found.len();
    for range in in_text(usual).map(|range| copy.place(&range)) {
        let next = found[..written].partition_point(|other| other.end <= range.start);
        if found[..written].get(next).is_none_or(|other| other.start >= range.end) {
            found.push(range);
        }
    }
    found.sort_by_key(|range| range.start);
    // Two characters of the usual form may be one of the text.
    found.dedup_by(|next, last| next.start < last.end);
    found
}

/// The start of each replacement in a text, with the farthest end until there.
struct Own(Vec<(usize, usize)>);

impl Own {
    /// Returns whether the range is inside of one replacement.
    fn contains(&self, inner: &Range<usize>) -> bool {
        let until = self.0.partition_point(|(start, _)| *start <= inner.start);
        self.0[..until].last().is_some_and(|(_, end)| *end >= inner.end)
    }
}
