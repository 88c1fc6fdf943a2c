//! Which tools, agents or sources a command is for.

use regex::{Error, Regex, RegexBuilder};

/// The most bytes of a compiled regular expression.
const REGEX: usize = 1 << 20;

/// A checked matcher.
#[derive(Clone, Debug)]
pub(crate) enum Matcher {
    All,
    Names(Vec<String>),
    Regex(Regex),
}

impl Matcher {
    /// Reads a matcher. The error says what is wrong, and at which character.
    pub(crate) fn new(text: Option<&str>) -> Result<Self, String> {
        let is_of_list = |byte: u8| byte.is_ascii_alphanumeric() || b"_- ,|".contains(&byte);
        match text {
            None | Some("" | "*") => Ok(Self::All),
            Some(list) if list.bytes().all(is_of_list) => {
                let names = list.split([',', '|']).map(str::trim).filter(|name| !name.is_empty());
                let names: Vec<_> = names.map(str::to_owned).collect();
                if names.is_empty() {
                    return Err(format!("expected a name, found {list:?}; write `*` for all"));
                }
                Ok(Self::Names(names))
            }
            Some(regex) => {
                if let Some((tool, condition)) = as_condition(regex) {
                    return Err(format!(
                        "expected names or a regular expression, found a condition; write \
                         `{tool}` here and `{condition}` as `if`"
                    ));
                }
                let compiled = RegexBuilder::new(regex).size_limit(REGEX).build();
                compiled.map(Self::Regex).map_err(|error| what_is_wrong(&error))
            }
        }
    }

    /// Returns the names, if it is a list of them.
    pub(crate) fn names(&self) -> &[String] {
        match self {
            Self::Names(names) => names,
            Self::All | Self::Regex(_) => &[],
        }
    }

    /// Returns whether it matches the text. An event without a text matches.
    pub(crate) fn matches(&self, text: Option<&str>) -> bool {
        let Some(text) = text else { return true };
        match self {
            Self::All => true,
            // Coding agents have renamed this tool, and not the files of their users.
            Self::Names(names) => {
                names.iter().any(|name| name == text || name == "Task" && text == "Agent")
            }
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

/// Returns the names and the condition of a text such as `Bash(rm:*)`. As a regular expression it would
/// match a name such as `Bashrm`, which no tool has.
fn as_condition(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_suffix(')')?;
    let (names, argument) = inner.split_once('(')?;
    let is_of_names = |byte: u8| byte.is_ascii_alphanumeric() || b"_-|!".contains(&byte);
    if names.is_empty() || !names.bytes().all(is_of_names) || names.ends_with('|') {
        return None;
    }
    let is_of_no_name = argument.contains([' ', '/', ':', '~']) || argument.starts_with('*');
    // A group that is no choice and is not repeated says nothing in a regular expression.
    let is_regex = argument.starts_with(['?', '(', '[', '^'])
        || argument.contains(['|', '\\', '['])
        || [".*", ".+"].iter().any(|any| argument.starts_with(any));
    if is_regex && !is_of_no_name || argument.starts_with('?') {
        return None;
    }
    let names = names.trim_start_matches('!');
    let tool = names.rsplit('|').next()?;
    Some((names, &text[text.find(tool)?..]))
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
