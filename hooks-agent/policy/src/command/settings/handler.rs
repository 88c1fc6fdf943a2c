//! The handlers of settings.

use std::time::Duration;

use hooks_agent_core::text::misspelt;
use serde_json::{Map, Value};

use crate::command::contract::CommandEvent;
use crate::command::entry::{CommandEntry, Handler, OnFailure};
use crate::command::settings::imported::EntryPlace;
use crate::command::settings::position::Step;
use crate::command::settings::reading::Settings;
use crate::command::settings::types::{Wrong, handler_of, known_keys, with_headers};

/// The group of a handler.
pub(super) struct Group<'a> {
    pub(super) event: CommandEvent,
    pub(super) matcher: Option<&'a str>,
    pub(super) is_sequential: bool,
    /// Whether its matcher has a problem: its handlers are looked at, and no entries.
    pub(super) is_broken: bool,
    /// Where the group is.
    pub(super) steps: &'a [Step<'a>],
}

/// The keys of a handler in which opening finds problems.
const PLACED: [&str; 10] =
    ["command", "if", "timeout", "env", "url", "headers", "server", "tool", "input", "prompt"];

/// Adds the entry of a handler, or its problems.
pub(super) fn read_handler(
    settings: &mut Settings<'_>,
    group: &Group<'_>,
    index: usize,
    handler: &Value,
) {
    let steps = [group.steps, &[Step::Key("hooks"), Step::Index(index)]].concat();
    let below = |key| [&steps[..], &[Step::Key(key)]].concat();
    let Some(fields) = handler.as_object() else {
        settings.problem(&steps, "hooks", "expected an object with `type`");
        return;
    };
    let mut wrong = Vec::new();
    let entry = entry_of(group, fields, &mut wrong);
    let has_problems = !wrong.is_empty() || group.is_broken;
    for (field, expected) in wrong {
        settings.problem(&below(field), field, expected);
    }
    let Some(entry) = entry.filter(|_| !has_problems) else { return };
    let entry = with_file_env(entry, settings).layer(settings.layer);
    warn(settings, &entry, fields, &steps);
    let of_handler = PLACED.map(|key| (key, below(key)));
    let matcher = [group.steps, &[Step::Key("matcher")]].concat();
    let of_group = [("matcher", matcher), ("event", group.steps[..2].to_vec())];
    let places = of_handler.into_iter().chain(of_group);
    let fields = places.map(|(key, steps)| (key, settings.position(&steps))).collect();
    let (path, at) = (settings.path.to_owned(), settings.position(&steps));
    settings.into.entries.push((entry, EntryPlace::Settings { path, at, fields }));
}

/// Adds the variables of the file in front of those of the handler, which hold. A request has only those that its
/// handler allows.
fn with_file_env(mut entry: CommandEntry, settings: &Settings<'_>) -> CommandEntry {
    if !entry.handler.is_program() {
        let allowed = settings.env.iter().filter(|(name, _)| entry.pass_env.contains(name));
        entry.env = allowed.cloned().collect();
        return entry;
    }
    entry.env.splice(0..0, settings.env.iter().cloned());
    settings.pass_env.iter().fold(entry, CommandEntry::pass_env)
}

/// Warns about what has no meaning here, and about a guard that would let a call pass.
fn warn(
    settings: &mut Settings<'_>,
    entry: &CommandEntry,
    fields: &Map<String, Value>,
    steps: &[Step<'_>],
) {
    let below = |key| [steps, &[Step::Key(key)]].concat();
    let known = known_keys(&entry.handler);
    for key in fields.keys().filter(|key| !known.contains(&key.as_str())) {
        match misspelt(key, known.iter().copied()) {
            Some(known) => {
                let message = format!("unknown key `{key}`, did you mean `{known}`?");
                settings.problem(&below(key), "hooks", &message);
            }
            None => {
                let instead = match (&entry.handler, key.as_str()) {
                    (Handler::Prompt(_), "model") => "the model of the program is asked",
                    _ => "the command runs and is waited for",
                };
                let message = format!("`{key}` is ignored, {instead}");
                settings.warn(&below(key), &message);
            }
        }
    }
    if let Handler::Exec(args) = &entry.handler
        && args.iter().any(|arg| arg.contains("${"))
    {
        let message = "`${..}` is passed on as it is, a program reads its environment";
        settings.warn(&below("args"), message);
    }
    let is_guard = entry.event.parse().is_ok_and(guards);
    if entry.on_failure == OnFailure::Continue && is_guard {
        let message = format!(
            "`{}` of {} lets the call go on if it fails, write `\"onFailure\": \"block\"`",
            entry.name(),
            entry.event
        );
        settings.warn(steps, &message);
    }
}

/// How long coding agents wait for a handler that says nothing else.
const TIMEOUT: Duration = Duration::from_mins(10);

/// Returns whether a command of the event is a guard.
fn guards(event: CommandEvent) -> bool {
    use CommandEvent::{PermissionRequest, PreToolUse, UserPromptSubmit};
    matches!(event, PreToolUse | PermissionRequest | UserPromptSubmit)
}

/// Returns the entry of a handler; `wrong` gets each field that is not valid, and what was
/// expected.
fn entry_of(
    group: &Group<'_>,
    fields: &Map<String, Value>,
    wrong: &mut Vec<Wrong>,
) -> Option<CommandEntry> {
    let handler = handler_of(fields, wrong)?;
    let on_failure = match fields.get("onFailure").map(Value::as_str) {
        None | Some(Some("continue")) => OnFailure::Continue,
        Some(Some("block")) => OnFailure::Block,
        Some(_) => {
            wrong.push(("onFailure", "expected `block` or `continue`"));
            OnFailure::Block
        }
    };
    let mut entry = CommandEntry::new(group.event, handler).on_failure(on_failure);
    // A guard whose failures let calls go on is given the time that it was written for.
    let is_prompt = matches!(entry.handler, Handler::Prompt(_));
    if group.event != CommandEvent::UserPromptSubmit && !is_prompt {
        entry = entry.timeout(TIMEOUT);
    }
    entry = entry.sequence(group.is_sequential);
    if let Some(matcher) = group.matcher {
        entry = entry.matcher(matcher);
    }
    Some(with_options(entry, fields, wrong))
}

fn with_options(
    mut entry: CommandEntry,
    fields: &Map<String, Value>,
    wrong: &mut Vec<Wrong>,
) -> CommandEntry {
    match fields.get("if").map(Value::as_str) {
        None => {}
        Some(Some(condition)) => entry = entry.condition(condition),
        Some(None) => wrong.push(("if", "expected a text, as in `Tool(glob)`")),
    }
    if let Some(timeout) = fields.get("timeout") {
        let seconds = timeout.as_f64().and_then(|it| Duration::try_from_secs_f64(it).ok());
        match seconds {
            Some(seconds) => entry = entry.timeout(seconds),
            None => wrong.push(("timeout", "expected a number of seconds")),
        }
    }
    if let Handler::Http(_) = entry.handler {
        return with_headers(entry, fields, wrong);
    }
    if let Some(env) = fields.get("env").filter(|_| entry.handler.is_program()) {
        let pairs = env.as_object().map(|env| env.iter().map(|(k, v)| Some((k, v.as_str()?))));
        match pairs.and_then(Iterator::collect::<Option<Vec<_>>>) {
            Some(pairs) => {
                entry =
                    pairs.into_iter().fold(entry, |entry, (name, value)| entry.env(name, value));
            }
            None => wrong.push(("env", "expected an object of texts")),
        }
    }
    entry
}
