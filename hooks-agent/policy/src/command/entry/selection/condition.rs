//! Which tool calls a command is for.

use globset::{Glob, GlobMatcher};
use hooks_agent_core::message::ToolUse;
use serde_json::Value;

use crate::command::entry::selection::matcher::Matcher;
use crate::command::entry::selection::shell::{commands_of, may_run};

/// The most bytes of a path, on most systems.
const LONGEST_PATH: usize = 4096;

/// How many folders of a longer text are looked at.
const FOLDERS: usize = 64;

/// A checked condition: `Tool` or `Tool(glob)`.
///
/// A text is tested whole and part by part, so that `cd build && rm -r .` is one of `Bash(rm *)`. In a line
/// of shell, so are the commands behind programs such as `sudo`. A path is tested whole and from each of its
/// folders on, so that `Write(.env*)` is about files of that name everywhere. Where it is not sure, the
/// command runs.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    tool: GlobMatcher,
    /// The name of the tool, if it is no glob.
    name: Option<String>,
    argument: Argument,
}

/// What is tested of the arguments.
#[derive(Clone, Debug)]
enum Argument {
    Any,
    /// One of these globs matches a text.
    Text(Vec<GlobMatcher>),
    /// The glob matches the host of an address.
    Host(GlobMatcher),
}

impl Condition {
    /// Reads a condition. The error says what was expected.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let (tool, argument) = match text.trim().split_once('(') {
            None => (text, None),
            Some((tool, rest)) => {
                let glob = rest.strip_suffix(')');
                (tool, Some(glob.ok_or("expected `)` at the end, as in `Tool(glob)`")?))
            }
        };
        let tool = tool.trim();
        if tool.is_empty() {
            return Err("expected the name of a tool, as in `Tool(glob)`".to_owned());
        }
        if tool.starts_with('!') {
            return Err(format!(
                "expected the name of a tool, found {tool:?}: a condition says which calls the \
                 command is for, not which it is not for"
            ));
        }
        if tool.contains(['|', ',', ' ', ')']) || argument.is_some_and(is_several) {
            return Err(format!(
                "expected one condition, as in `Tool(glob)`, found {text:?}; write an entry for each"
            ));
        }
        let is_glob = tool.contains(['*', '?', '[', '{', '\\']);
        let name = (!is_glob).then(|| tool.to_owned());
        let argument =
            argument.filter(|glob| !glob.is_empty()).map_or(Ok(Argument::Any), Argument::new);
        Ok(Self { tool: glob(tool)?, name, argument: argument? })
    }

    /// Returns why no tool call of the matcher is of this form, if none is.
    pub(crate) fn is_never(&self, matcher: &Matcher) -> Option<String> {
        let never = match (matcher, &self.name) {
            (Matcher::Names(names), _) => !names.iter().any(|name| self.tool.is_match(name)),
            (Matcher::Regex(_), Some(name)) => !matcher.matches(Some(name)),
            (Matcher::All | Matcher::Regex(_), _) => false,
        };
        never.then(|| {
            let tool = self.tool.glob();
            format!("expected a tool that the matcher matches, found `{tool}`: it would never run")
        })
    }

    /// Returns the name of the tool, if it is no glob.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns whether the tool call is of this form. The order of arguments is up to the model, so
    /// all texts among them are tested.
    pub(crate) fn holds(&self, call: &ToolUse) -> bool {
        self.tool.is_match(&call.name) && self.argument.is_in(&call.input, is_shell(&call.name))
    }
}

/// Returns whether there is another condition behind the first, as in `*.ts)|Write(*.ts`.
fn is_several(argument: &str) -> bool {
    let ends = argument.match_indices(')').map(|(at, _)| argument[at + 1..].trim_start());
    let mut rests = ends.map(|rest| rest.trim_start_matches(['|', '&', ',']));
    rests.any(|rest| {
        let name = rest.trim_start().split('(').next().unwrap_or_default();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-*".contains(&byte);
        rest.contains('(') && !name.is_empty() && name.bytes().all(is_name)
    })
}

impl Argument {
    fn new(text: &str) -> Result<Self, String> {
        if let Some(host) = text.strip_prefix("domain:") {
            return Ok(Self::Host(glob(&host.to_lowercase())?));
        }
        let mut globs = Vec::new();
        // Both stand for what begins with the words before, and for these words alone.
        let words = text.strip_suffix(":*").or_else(|| text.strip_suffix(" *"));
        match words {
            Some(words) => globs.extend([glob(words)?, glob(&format!("{words} *"))?]),
            None => globs.push(glob(text)?),
        }
        // In rules about commands, `*` alone is special, and what is in a variable may be any argument.
        let escaped = escape(text);
        if escaped != text {
            globs.push(glob(&escaped)?);
        }
        if let Some((program, _)) = words.unwrap_or(text).split_once(' ')
            && !program.contains('*')
        {
            globs.push(glob(&format!("{} *$*", escape(program)))?);
        }
        // In rules about paths, a folder stands for what is in it.
        if words.is_none() && !text.ends_with('*') {
            globs.push(glob(&format!("{}/**", text.trim_end_matches('/')))?);
        }
        // Of the folder of the project, of the home folder and of the root are all paths that end so.
        let path = text.trim_start_matches("~/").trim_start_matches("./").trim_start_matches('/');
        if path != text && !path.is_empty() {
            globs.extend([glob(path)?, glob(&format!("{}/**", path.trim_end_matches('/')))?]);
        }
        Ok(Self::Text(globs))
    }

    /// Returns whether a text in the value is of this form; `is_line` says whether texts are lines of shell.
    fn is_in(&self, value: &Value, is_line: bool) -> bool {
        match (self, value) {
            (Self::Any, _) => true,
            (Self::Text(globs), Value::String(text)) => {
                let is_of = |part: &str| globs.iter().any(|glob| glob.is_match(part));
                is_of(text)
                    || commands_of(text).any(|part| is_of(part) || ends_of(part).any(is_of))
                    || is_line && may_run(text, &is_of)
            }
            (Self::Host(glob), Value::String(text)) => glob.is_match(host_of(text).to_lowercase()),
            (_, Value::Array(values)) => values.iter().any(|value| self.is_in(value, is_line)),
            (_, Value::Object(fields)) => {
                let mut fields = fields.iter();
                fields.any(|(name, value)| self.is_in(value, is_line || is_shell(name)))
            }
            _ => false,
        }
    }
}

/// Returns the glob for a text in which `*` alone is special.
fn escape(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, it| {
        match it {
            '[' | ']' | '{' | '}' | '?' => escaped.extend(['[', it, ']']),
            '\\' => escaped.push_str("\\\\"),
            _ => escaped.push(it),
        }
        escaped
    })
}

/// Returns whether the name of a tool or of an argument is one of a line of shell.
fn is_shell(name: &str) -> bool {
    const WORDS: [&str; 7] = ["bash", "shell", "terminal", "exec", "command", "cmd", "script"];
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// Returns what is left of a path behind each of its folders; of a text that is too long for a path,
/// behind the first of them, because each is tested to its end.
fn ends_of(text: &str) -> impl Iterator<Item = &str> {
    let is_path = text.starts_with(['/', '.', '~']) || !text.contains(char::is_whitespace);
    let most = if !is_path {
        0
    } else if text.len() > LONGEST_PATH {
        FOLDERS
    } else {
        usize::MAX
    };
    text.match_indices('/').take(most).map(|(at, _)| &text[at + 1..])
}

/// Returns the host of an address, or else the text up to its first `/`.
fn host_of(text: &str) -> &str {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.split(':').next().unwrap_or_default()
}

fn glob(text: &str) -> Result<GlobMatcher, String> {
    let compiled = Glob::new(text).map_err(|error| format!("invalid glob: {}", error.kind()))?;
    Ok(compiled.compile_matcher())
}
