//! Finds the signs around a link, which end it.

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

/// What ends a link to a listed host, all of which is to be read: no sign that belongs to it for some programs.
#[derive(Clone, Copy)]
pub(super) struct End {
    /// The sign that ends it.
    sign: Option<char>,
    /// Whether blanks end it.
    at_blanks: bool,
    /// Whether brackets within it are counted.
    has_pairs: bool,
}

impl End {
    pub(super) fn of(text: &str, at: usize) -> Self {
        let mut before = signs_before(text, at);
        let sign = before.next();
        let joined = before.next();
        let outer = joined.filter(|it| !it.is_whitespace());
        let outer = outer.or_else(|| before.find(|it| !it.is_whitespace()));
        let is_attribute = matches!(outer, Some('=' | '(' | UNKNOWN));
        let is_destination = matches!(outer, Some('(' | ':' | UNKNOWN));
        let is_bracket = matches!(joined, Some(']')) || joined.is_some_and(char::is_alphabetic);
        let (end, at_blanks) = match sign {
            Some(UNKNOWN) => (None, false),
            Some(quote @ ('"' | '\'')) => (Some(quote), !is_attribute),
            Some('<') => (Some('>'), !is_destination),
            Some('(') if is_bracket => (Some(')'), true),
            Some('=') => (None, true),
            _ => (Some('<'), true),
        };
        Self { sign: end, at_blanks, has_pairs: end == Some(')') }
    }

    /// Returns where a link ends that goes on with this text.
    pub(super) fn find_in(self, rest: &str, most: usize) -> Option<usize> {
        let (mut open, mut is_escaped) = (0_usize, false);
        let mut near = rest.char_indices().take_while(|(at, _)| *at <= most);
        let end = near.find(|(_, sign)| {
            let is_taken = is_escaped;
            is_escaped = *sign == '\\' && !is_taken;
            if is_blank(*sign) {
                return self.at_blanks;
            }
            if self.has_pairs && is_taken {
                return false;
            }
            if self.has_pairs && *sign == '(' {
                open += 1;
            }
            let is_end = self.sign == Some(*sign);
            let is_paired = is_end && open > 0;
            open -= usize::from(is_paired);
            is_end && !is_paired
        });
        end.map(|(at, _)| at)
    }
}

/// Returns whether a sign is a blank of HTML.
pub(super) fn is_blank(sign: char) -> bool {
    matches!(sign, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

/// Returns whether one of these words stands not far before a place.
pub(super) fn is_after(text: &str, at: usize, words: &[&str]) -> bool {
    let near = &text[text.floor_char_boundary(at.saturating_sub(MOST_TAG))..at];
    let near = near.to_ascii_lowercase();
    words.iter().any(|word| near.contains(word))
}
