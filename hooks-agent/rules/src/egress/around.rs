//! What stands around a link.

use crate::egress::reader::{UNKNOWN, signs_before};

/// How far back the tag of an attribute may begin.
const MOST_TAG: usize = 1024;

/// What a link stands in, by the sign before it, which says what ends it there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Around {
    /// `"`, `'` or `<`: this sign ends it.
    Closed(char),
    /// `(`: blanks and `)` end it.
    Brackets,
    /// `[`: blanks and `]` end it.
    Label,
    /// `=`: blanks and `>` end it.
    Value,
    /// Blanks and `<` end it.
    Text,
}

impl Around {
    pub(super) fn of(text: &str, at: usize) -> Self {
        match signs_before(text, at).next() {
            Some('<') => Self::Closed('>'),
            Some(sign @ ('"' | '\'' | UNKNOWN)) => Self::Closed(sign),
            Some('(') => Self::Brackets,
            Some('[') => Self::Label,
            Some('=') if is_after(text, at, &["<"]) => Self::Value,
            _ => Self::Text,
        }
    }

    pub(super) fn ends_at(self, sign: char) -> bool {
        match self {
            Self::Closed(end) => sign == end,
            Self::Brackets => sign == ')',
            Self::Label => sign == ']',
            Self::Value => sign == '>',
            Self::Text => sign == '<',
        }
    }
}

/// Returns whether what stands around a link keeps the blanks in it: quotes of an attribute or in brackets, and `(<`.
pub(super) fn keeps_blanks(text: &str, at: usize) -> bool {
    let mut before = signs_before(text, at);
    let sign = before.next();
    let outer = before.find(|it| !it.is_whitespace());
    match sign {
        Some(UNKNOWN) => true,
        Some('"' | '\'') => matches!(outer, Some('=' | '(' | UNKNOWN)),
        Some('<') => matches!(outer, Some('(' | ':' | UNKNOWN)),
        _ => false,
    }
}

/// Returns whether one of these words stands not far before a place.
pub(super) fn is_after(text: &str, at: usize, words: &[&str]) -> bool {
    let near = &text[text.floor_char_boundary(at.saturating_sub(MOST_TAG))..at];
    let near = near.to_ascii_lowercase();
    words.iter().any(|word| near.contains(word))
}
