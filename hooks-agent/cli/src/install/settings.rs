//! The file in which an agent has its hooks.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hooks_core::BoxError;
use serde_json::{Map, Value, json};

use crate::install::write_whole;

/// The settings of an agent, as they are and as they become.
pub(super) struct Settings {
    path: PathBuf,
    /// Whether there is a file.
    is_there: bool,
    content: Map<String, Value>,
    changes: Vec<String>,
}

impl Settings {
    /// Reads them; a file that is not there is empty.
    pub(super) fn read(path: &Path) -> Result<Self, BoxError> {
        // A link stays one: what it leads to is changed.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let refused = |why: String| -> BoxError {
            format!("{}: {why}; nothing was changed", path.display()).into()
        };
        let (is_there, content) = match fs::read_to_string(&path) {
            Ok(text) if text.trim().is_empty() => (true, Map::new()),
            Ok(text) => match serde_json::from_str(&text) {
                Ok(Value::Object(_)) if number_beyond(&text).is_some() => {
                    let number = number_beyond(&text).unwrap_or_default();
                    return Err(refused(format!(
                        "{number} has more than 64 bits, and would change"
                    )));
                }
                Ok(Value::Object(content)) => (true, content),
                Ok(_) => return Err(refused("expected a JSON object".to_owned())),
                Err(error) => return Err(refused(format!("expected JSON: {error}"))),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => (false, Map::new()),
            Err(error) => return Err(refused(format!("cannot be read: {error}"))),
        };
        let settings = Self { path, is_there, content, changes: Vec::new() };
        settings.check()?;
        Ok(settings)
    }

    /// Refuses hooks that are not what an agent takes: entries beside them would be void with them.
    fn check(&self) -> Result<(), BoxError> {
        let Some(hooks) = self.content.get("hooks") else { return Ok(()) };
        let wrong = match hooks {
            Value::Object(events) => {
                let mut events = events.iter().filter(|(_, entries)| !entries.is_array());
                events.next().map(|(event, _)| format!("`hooks.{event}` is no array"))
            }
            _ => Some("`hooks` is no object".to_owned()),
        };
        match wrong {
            None => Ok(()),
            Some(why) => Err(format!("{}: {why}; nothing was changed", self.path.display()).into()),
        }
    }

    /// Removes the entries that run a script.
    pub(super) fn remove(&mut self, script: &str) {
        let Some(Value::Object(events)) = self.content.get_mut("hooks") else { return };
        for (event, entries) in events.iter_mut() {
            let Value::Array(entries) = entries else { continue };
            entries.retain_mut(|entry| {
                let Some(Value::Array(handlers)) = entry.get_mut("hooks") else {
                    let is_ours = runs(entry, script);
                    self.changes.extend(is_ours.then(|| format!("- {event}")));
                    return !is_ours;
                };
                // A person may have added another one beside it.
                let before = handlers.len();
                handlers.retain(|handler| !runs(handler, script));
                let has_ours = handlers.len() < before;
                self.changes.extend(has_ours.then(|| format!("- {event}")));
                !has_ours || !handlers.is_empty()
            });
        }
        events.retain(|_, entries| entries.as_array().is_none_or(|entries| !entries.is_empty()));
        if events.is_empty() {
            self.content.remove("hooks");
        }
    }

    /// Adds an entry to an event.
    pub(super) fn add(&mut self, event: &str, entry: Value) -> Result<(), BoxError> {
        let hooks = self.content.entry("hooks").or_insert_with(|| json!({}));
        let Value::Object(events) = hooks else { return Err("`hooks` is no object".into()) };
        let entries = events.entry(event).or_insert_with(|| json!([]));
        let Value::Array(entries) = entries else {
            return Err(format!("`hooks.{event}` is no array").into());
        };
        self.changes.push(format!("+ {event}: {entry}"));
        entries.push(entry);
        Ok(())
    }

    pub(super) fn set_version(&mut self) {
        self.content.entry("version").or_insert_with(|| json!(1));
    }

    /// Returns what in these settings keeps hooks from running.
    pub(super) fn holes(&self) -> Vec<&'static str> {
        let is_on = |value: Option<&Value>| value == Some(&Value::Bool(true));
        let mut holes = Vec::new();
        if is_on(self.content.get("disableAllHooks")) {
            holes.push("`disableAllHooks` is `true` in these settings, so no hook runs: remove it");
        }
        let config = self.content.get("hooksConfig").and_then(|config| config.get("enabled"));
        if config == Some(&Value::Bool(false)) {
            holes.push(
                "`hooksConfig.enabled` is `false` in these settings, so no hook runs: remove it",
            );
        }
        holes
    }

    /// Prints what changes.
    pub(super) fn print(&self) {
        say!("{}", self.path.display());
        if self.changes.is_empty() {
            say!("  nothing");
        }
        for change in &self.changes {
            say!("{change}");
        }
    }

    /// Writes them, as a whole or not at all. Those of which nothing is left are removed.
    pub(super) fn write(&self) -> Result<(), BoxError> {
        let has_no_more = self.content.keys().all(|name| name == "version");
        if has_no_more {
            if self.is_there {
                fs::remove_file(&self.path)?;
            }
            return Ok(());
        }
        let permissions = self.is_there.then(|| fs::metadata(&self.path)).transpose()?;
        let text = format!("{:#}\n", Value::Object(self.content.clone()));
        write_whole(&self.path, &text, permissions.map(|it| it.permissions()))
    }
}

/// Returns whether a handler runs a script, rather than names it.
fn runs(handler: &Value, script: &str) -> bool {
    let command = handler.get("command").or_else(|| handler.get("bash"));
    let line = command.and_then(Value::as_str).and_then(|command| command.strip_prefix("sh "));
    line.is_some_and(|line| line.starts_with(script))
}

/// Returns a whole number of a JSON text that is read as another one: it has more than 64 bits.
fn number_beyond(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        rest = &rest[at..];
        if let Some(string) = rest.strip_prefix('"') {
            let mut is_escaped = false;
            let end = string.find(|c: char| {
                let is_end = c == '"' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                is_end
            })?;
            rest = &string[end + 1..];
            continue;
        }
        let end = rest.find(|c: char| !matches!(c, '-' | '+' | '.' | 'e' | 'E' | '0'..='9'));
        let (number, after) = rest.split_at(end.unwrap_or(rest.len()));
        let is_whole = !number.contains(['.', 'e', 'E']);
        if is_whole && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
            return Some(number);
        }
        rest = after;
    }
    None
}
