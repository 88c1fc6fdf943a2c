//! The programs that an entry runs, as far as its command can be read.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::command::entry::handler::{Handler, host_of};
use crate::command::process::Launch;

/// Programs that run another one.
const LAUNCHERS: [&str; 16] = [
    "bash", "bun", "dash", "deno", "env", "node", "npx", "perl", "python", "python3", "ruby", "sh",
    "tsx", "uv", "uvx", "zsh",
];

/// The ends of the names of scripts.
const SCRIPTS: [&str; 11] =
    [".bash", ".cjs", ".js", ".mjs", ".pl", ".py", ".rb", ".sh", ".ts", ".tsx", ".zsh"];

/// The beginning of the names of variables that coding agents set.
const OF_AGENTS: &str = "CLAUDE_";

/// The field of an input that has no file here.
const TRANSCRIPT: &str = "transcript_path";

/// How many bytes of a script are searched.
const SCRIPT: u64 = 1 << 18;

/// Words in front of a command.
const KEYWORDS: [&str; 10] =
    ["!", "(", "command", "do", "else", "exec", "if", "then", "while", "{"];

/// Commands that prepare another one.
const PREPARES: [&str; 10] =
    [":", "[", "[[", "cd", "export", "set", "source", "test", "true", "unset"];

/// Returns the name of what runs: of a script rather than of what runs it, and not of a `cd` before it; the
/// host of a server.
pub(super) fn name_of(handler: &Handler) -> Option<String> {
    match handler {
        Handler::Exec(_) | Handler::Shell(..) => {}
        Handler::Http(url) => return Some(host_of(url).to_owned()).filter(|host| !host.is_empty()),
        Handler::McpTool(call) => return Some(call.tool.clone()),
        Handler::Prompt(_) => return Some("prompt".to_owned()),
    }
    let words = words_of(handler);
    let named = script_of(&words).or(words.first())?;
    let file = Path::new(named).file_name()?;
    Some(file.to_string_lossy().into_owned())
}

/// Returns the launchers among the programs that run.
pub(crate) fn launchers_of(launch: &Launch) -> Vec<&'static str> {
    let line = launch.args.iter().flat_map(|arg| arg.split_whitespace());
    let program = launch.program.to_string_lossy();
    let words = std::iter::once(&*program).chain(line);
    let files = words.map(|word| word.rsplit('/').next().unwrap_or(word));
    files.filter_map(|file| LAUNCHERS.into_iter().find(|launcher| *launcher == file)).collect()
}

/// Says which programs and variables of a command are not there.
pub(super) fn warnings(handler: &Handler, launch: &Launch) -> Vec<String> {
    let environment: HashMap<OsString, OsString> = launch.environment().into_iter().collect();
    let mut warnings = Vec::new();
    let line = match handler {
        Handler::Shell(_, line) => Some(line.as_str()),
        _ => None,
    };
    let unset = line.into_iter().flat_map(variables_of).filter(|name| {
        let is_set = environment.contains_key(&OsString::from(name));
        !is_set && line.is_some_and(|line| !line.contains(&format!("{name}=")))
    });
    for name in unset {
        let warning = if name.starts_with(OF_AGENTS) {
            format!("`${name}` is not set here, it is empty for the command")
        } else if std::env::var_os(&name).is_some() {
            format!("`${name}` is not passed on, it is empty for the command: write `pass_env`")
        } else {
            continue;
        };
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    if line.is_some_and(|line| line.contains(TRANSCRIPT)) {
        warnings.push(format!("it reads `{TRANSCRIPT}`, which is `null` here"));
    }
    let words = words_of(handler);
    let programs = words.first().into_iter().chain(script_of(&words));
    for program in programs {
        let Some(path) = expanded(program, &environment) else { continue };
        if path.contains('/') {
            let file = launch.dir.join(&path);
            if !file.exists() {
                warnings.push(format!("`{path}` is not there, the command fails"));
            } else if has_text(&file, TRANSCRIPT) {
                warnings.push(format!("`{path}` reads `{TRANSCRIPT}`, which is `null` here"));
            }
        } else if !is_in_path(&path, &environment) && is_program(handler, &path) {
            warnings.push(format!("`{path}` is in no folder of `PATH`, the command fails"));
        }
    }
    warnings
}

/// Returns whether the beginning of a file has a text.
fn has_text(path: &Path, text: &str) -> bool {
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SCRIPT).read_to_end(&mut beginning));
    read.is_ok() && beginning.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Returns whether a word without `/` is the name of a program, and not of a builtin of the shell.
fn is_program(handler: &Handler, word: &str) -> bool {
    matches!(handler, Handler::Exec(_)) || LAUNCHERS.contains(&word)
}

fn is_in_path(program: &str, environment: &HashMap<OsString, OsString>) -> bool {
    let Some(path) = environment.get(&OsString::from("PATH")) else { return true };
    std::env::split_paths(path).map(|folder: PathBuf| folder.join(program)).any(|it| it.exists())
}

/// Returns the words of the first command that does not only prepare another one.
fn words_of(handler: &Handler) -> Vec<String> {
    let line = match handler {
        Handler::Exec(args) => return args.clone(),
        Handler::Shell(_, line) => line,
        _ => return Vec::new(),
    };
    let commands = line.split(['&', '|', ';', '\n']).map(|command| {
        let words = command.split_whitespace().map(|word| word.replace(['"', '\''], ""));
        let words = words.skip_while(|word| KEYWORDS.contains(&word.as_str()) || is_set(word));
        words.collect::<Vec<_>>()
    });
    let commands: Vec<_> = commands.filter(|words| !words.is_empty()).collect();
    let is_prepared = |words: &&Vec<String>| !PREPARES.contains(&words[0].as_str());
    let found = commands.iter().find(is_prepared).or(commands.first());
    found.cloned().unwrap_or_default()
}

/// Returns whether a word sets a variable.
fn is_set(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Returns the script that a launcher runs.
fn script_of(words: &[String]) -> Option<&String> {
    let launcher = Path::new(words.first()?).file_name()?;
    if !LAUNCHERS.iter().any(|known| launcher == *known) {
        return None;
    }
    let mut rest = words[1..].iter();
    rest.find(|word| SCRIPTS.iter().any(|end| word.ends_with(end)))
}

/// Returns the names of the variables in a line that have no other value.
fn variables_of(line: &str) -> impl Iterator<Item = String> {
    let starts = line.match_indices('$').map(|(at, _)| &line[at + 1..]);
    starts.filter_map(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let is_of_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let name = rest.split(|it| !is_of_name(it)).next()?;
        // `${NAME:-default}` is one that need not be set.
        let has_default = rest[name.len()..].starts_with([':', '-']);
        (!name.is_empty() && !has_default).then(|| name.to_owned())
    })
}

/// Returns a word with the values of its variables, if all are known.
fn expanded(word: &str, environment: &HashMap<OsString, OsString>) -> Option<String> {
    let mut text = match word.strip_prefix("~/") {
        Some(rest) => format!("${{HOME}}/{rest}"),
        None => word.to_owned(),
    };
    while let Some(at) = text.find('$') {
        let rest = &text[at + 1..];
        let (name, end) = match rest.strip_prefix('{') {
            Some(inner) => (inner.split_once('}')?.0, inner.find('}')? + 2),
            None => {
                let end = rest.find(|it: char| !it.is_ascii_alphanumeric() && it != '_');
                let end = end.unwrap_or(rest.len());
                (&rest[..end], end)
            }
        };
        let value = environment.get(&OsString::from(name))?.to_str()?;
        if value.contains('$') {
            return None;
        }
        text = format!("{}{value}{}", &text[..at], &rest[end..]);
    }
    let is_plain =
        !text.is_empty() && !text.contains(['`', '*', '?', '(', ')', '<', '>', '\\', '{']);
    is_plain.then_some(text)
}
