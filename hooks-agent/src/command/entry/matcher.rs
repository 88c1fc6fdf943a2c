//! Which tools, agents or sources a command is for.

use regex::{Error, Regex, RegexBuilder};

/// The most bytes of a compiled regular expression.
const REGEX: usize = 1 << 20;

/// A checked matcher.
#[derive(Clone, Debug)]
pub(in crate::command) enum Matcher {
    All,
    Names(Vec<String>),
    Regex(Regex),
}

impl Matcher {
    /// Reads a matcher. The error says what is wrong, and at which character.
    pub(in crate::command) fn new(text: Option<&str>) -> Result<Self, String> {
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_|-".contains(&byte);
        match text {
            None | Some("" | "*") => Ok(Self::All),
            Some(names) if names.bytes().all(is_of_name) => {
                Ok(Self::Names(names.split('|').map(str::to_owned).collect()))
            }
            Some(regex) => {
                let compiled = RegexBuilder::new(regex).size_limit(REGEX).build();
                compiled.map(Self::Regex).map_err(|error| what_is_wrong(&error))
            }
        }
    }

    /// Returns whether it matches the text. An event without a text matches.
    pub(in crate::command) fn matches(&self, text: Option<&str>) -> bool {
        let Some(text) = text else { return true };
        match self {
            Self::All => true,
            Self::Names(names) => names.iter().any(|name| name == text),
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

fn what_is_wrong(error: &Error) -> String {
    let Error::Syntax(text) = error else {
        return format!(
            "the regular expression is too large, expected one of {REGEX} bytes at most"
        );
    };
    // The error shows the expression, indented by four, and below it a caret at the place.
    let place = text.lines().find_map(|line| {
        let caret = line.find('^')?;
        line[..caret].bytes().all(|byte| byte == b' ').then(|| caret.saturating_sub(3))
    });
    let what = text.lines().find_map(|line| line.strip_prefix("error: "));
    let what = what.unwrap_or("expected a regular expression");
    match place {
        Some(place) => format!("invalid regular expression at character {place}: {what}"),
        None => format!("invalid regular expression: {what}"),
    }
}
