//! The `[[command]]` tables: the seam to command hooks.

use std::time::Duration;

use hooks_agent_core::options::{EXPECTED, Node, Value, bare_number, duration_of, set, shown_key};

use crate::command::{self, CommandEntry, CommandEvent, Layer};
use crate::policy::command_run::Run;
use crate::policy::file::{CommandTable, Fields, OnFailure, Problems, on_failure, resolve};

/// A command hook, as a file says it. It has no `Debug`: `env` may have values of the environment.
#[derive(Clone, PartialEq)]
pub(super) struct Command {
    pub(super) event: String,
    pub(super) matcher: Option<String>,
    /// The `if`.
    condition: Option<String>,
    pub(super) run: Run,
    timeout: Option<Duration>,
    on_failure: Option<OnFailure>,
    env: Vec<Variable>,
    pass_env: Vec<String>,
    is_sequence: bool,
    name: Option<String>,
    /// Whether something that is required is missing: it never runs, and is there to be checked.
    pub(super) is_incomplete: bool,
}

/// A variable of a command.
#[derive(Clone, PartialEq)]
struct Variable {
    name: String,
    value: String,
    /// The text of the file, if the value is of the environment.
    source: Option<String>,
}

impl Command {
    /// Returns the entry of command hooks.
    pub(super) fn entry(&self, layer: Layer, on_failure: OnFailure) -> CommandEntry {
        let entry = self.run.entry(&self.event);
        let on_failure = match self.on_failure.unwrap_or(on_failure) {
            OnFailure::Block => command::OnFailure::Block,
            OnFailure::Continue => command::OnFailure::Continue,
        };
        let mut entry = entry.layer(layer).on_failure(on_failure).sequence(self.is_sequence);
        entry = set(entry, self.matcher.clone(), CommandEntry::matcher);
        entry = set(entry, self.condition.clone(), CommandEntry::condition);
        entry = set(entry, self.timeout, CommandEntry::timeout);
        entry = set(entry, self.name.clone(), CommandEntry::named);
        for Variable { name, value, source } in &self.env {
            entry = match source {
                Some(source) => entry.secret_env(name, value, source),
                None => entry.env(name, value),
            };
        }
        self.pass_env.iter().fold(entry, CommandEntry::pass_env)
    }
}

/// Reads the commands of a file, and reports everything that is wrong with them.
pub(super) fn read_commands(tables: &[CommandTable], problems: &mut Problems<'_>) -> Vec<Command> {
    tables.iter().map(|table| read(&table.fields(), problems)).collect()
}

fn read(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Command {
    let text = |name: &str, problems: &mut Problems<'_>| {
        fields.text(name, problems).map(|(text, _)| text.to_owned())
    };
    let event = text("event", problems);
    if fields.get("event").is_none() {
        fields.missing("event", "event = \"PreToolUse\"", problems);
    }
    let (matcher, condition) = (text("matcher", problems), text("if", problems));
    let (run, timeout) = (Run::read(fields, problems), timeout(fields, problems));
    let on_failure = on_failure(fields, problems).map(|(on_failure, _)| on_failure);
    let env = env(fields, problems);
    let pass_env = fields.texts("pass_env", problems).unwrap_or_default();
    let pass_env = pass_env.into_iter().map(|(name, _)| name.to_owned()).collect();
    let is_sequence = fields.boolean("sequence", problems).unwrap_or(false);
    let name = text("name", problems);
    let is_incomplete = event.is_none() || run.is_none();
    // The rest is checked as that of any command.
    let any_event = || CommandEvent::PreToolUse.name().to_owned();
    Command {
        event: event.unwrap_or_else(any_event),
        run: run.unwrap_or_default(),
        matcher,
        condition,
        timeout,
        on_failure,
        env,
        pass_env,
        is_sequence,
        name,
        is_incomplete,
    }
}

fn timeout(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<Duration> {
    if let Some(Node { value: Value::Integer(seconds), span }) = fields.get("timeout") {
        problems.add(span.start, fields.path_of("timeout"), bare_number(seconds));
        return None;
    }
    let (text, node) = fields.text("timeout", problems)?;
    let time = duration_of(text).filter(|time| !time.is_zero());
    if time.is_none() {
        problems.add(node.span.start, fields.path_of("timeout"), EXPECTED);
    }
    time
}

fn env(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Vec<Variable> {
    let Some(node) = fields.get("env") else { return Vec::new() };
    let path = fields.path_of("env");
    let Node { value: Value::Table(entries), .. } = node else {
        let message = format!("expected a table of strings, found {}", node.kind());
        problems.add(node.span.start, path, message);
        return Vec::new();
    };
    let mut variables = Vec::new();
    for (key, node) in entries {
        let (mut node, path) = (node.clone(), format!("{path}.{}", shown_key(&key.name)));
        resolve(&mut node, &path, problems);
        match node.value {
            Value::Text { raw, resolved, is_secret } => {
                let name = key.name.clone();
                let value = resolved.unwrap_or_else(|| raw.clone());
                variables.push(Variable { name, value, source: is_secret.then_some(raw) });
            }
            _ => {
                let message = format!("expected a string, found {}", node.kind());
                problems.add(node.span.start, path, message);
            }
        }
    }
    variables
}
