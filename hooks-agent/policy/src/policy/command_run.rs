//! The handler of a `[[command]]`.

use std::fmt;

use hooks_agent_core::options::{Node, Value};

use crate::command::CommandEntry;
use crate::policy::file::{Fields, Problems};

/// What a command hook runs.
#[derive(Clone, PartialEq)]
pub(super) enum Run {
    /// A program with its arguments, without a shell.
    Exec(Vec<String>),
    /// A line for `sh -c`.
    Shell(String),
    /// A request to a server, with its headers.
    Http(String, Vec<(String, String)>),
    /// A question to a model.
    Prompt(String),
}

/// The keys of which a command has one.
const KEYS: [&str; 4] = ["exec", "command", "url", "prompt"];

impl Run {
    /// Reads what a command runs, and reports everything that is wrong with it.
    pub(super) fn read(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let given: Vec<_> = KEYS.into_iter().filter(|key| fields.get(key).is_some()).collect();
        let headers = headers(fields, problems);
        if let (Some(node), false) = (fields.get("headers"), given.contains(&"url")) {
            let message = "expected none: only requests to a `url` have them";
            problems.add(node.span.start, fields.path_of("headers"), message);
        }
        let text = |key, problems: &mut Problems<'_>| {
            fields.text(key, problems).map(|(text, _)| text.to_owned())
        };
        match given[..] {
            [] => {
                fields.missing("exec", "exec = [\"guards/check\"]", problems);
                None
            }
            ["exec"] => exec(fields, problems).map(Self::Exec),
            ["command"] => text("command", problems).map(Self::Shell),
            ["url"] => Some(Self::Http(text("url", problems)?, headers?)),
            ["prompt"] => text("prompt", problems).map(Self::Prompt),
            [first, second, ..] => {
                let at = fields.get(second).map_or(fields.span.start, |node| node.span.start);
                let message = format!("expected `{first}` or `{second}`, found both");
                problems.add(at, fields.path_of(second), message);
                None
            }
            [_] => None,
        }
    }

    /// Returns the entry of command hooks.
    pub(super) fn entry(&self, event: &str) -> CommandEntry {
        match self {
            Self::Exec(args) => CommandEntry::exec(event, args),
            Self::Shell(line) => CommandEntry::shell(event, line),
            Self::Http(url, headers) => headers
                .iter()
                .fold(CommandEntry::http(event, url), |it, (name, value)| it.header(name, value)),
            Self::Prompt(prompt) => CommandEntry::prompt(event, prompt),
        }
    }
}

/// A line that says nothing: of a command that is checked and never runs.
impl Default for Run {
    fn default() -> Self {
        Self::Shell("true".to_owned())
    }
}

/// What a command hook runs, as it is printed.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exec(args) => write!(f, "{}", args.join(" ").escape_debug()),
            Self::Shell(line) => write!(f, "sh -c {line:?}"),
            Self::Http(url, _) => write!(f, "POST {url:?}"),
            Self::Prompt(prompt) => write!(f, "prompt {prompt:?}"),
        }
    }
}

fn exec(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<Vec<String>> {
    let node = fields.get("exec")?;
    if let Value::Text { raw, .. } = &node.value {
        let words: Vec<_> = raw.split_whitespace().map(|word| format!("{word:?}")).collect();
        let message = format!(
            "expected a program and its arguments, found a string; write `exec = [{}]`",
            words.join(", ")
        );
        problems.add(node.span.start, fields.path_of("exec"), message);
        return None;
    }
    let program = fields.texts("exec", problems)?;
    if program.is_empty() {
        let message = "expected a program and its arguments, found an empty array";
        problems.add(node.span.start, fields.path_of("exec"), message);
        return None;
    }
    Some(program.into_iter().map(|(text, _)| text.to_owned()).collect())
}

/// Reads the headers of a request; `None` if one is wrong.
fn headers(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<Vec<(String, String)>> {
    let Some(node) = fields.get("headers") else { return Some(Vec::new()) };
    let path = fields.path_of("headers");
    let Node { value: Value::Table(entries), .. } = node else {
        let message = format!("expected a table of strings, found {}", node.kind());
        problems.add(node.span.start, path, message);
        return None;
    };
    let names: Vec<_> = entries.iter().map(|(key, _)| key.name.as_str()).collect();
    let below = Fields::new(path, node.span.clone(), entries, &names, problems);
    let texts = names.iter().map(|name| below.text(name, problems));
    let texts: Vec<_> = texts.collect();
    let pairs = names.into_iter().zip(texts);
    pairs.map(|(name, text)| Some((name.to_owned(), text?.0.to_owned()))).collect()
}
