//! The import of a file of settings.

use std::path::Path;

use serde_json::{Map, Value};

use crate::command::settings::handler::{Group, read_handler};
use crate::command::settings::imported::{Imported, Position};
use crate::command::settings::position::{Step, position};
use crate::command::{CommandEvent, CommandPlace, CommandProblem, Layer, UnknownEvent};
use crate::near_name::misspelt;

/// The keys of a group.
const GROUP: [&str; 3] = ["matcher", "hooks", "sequence"];

/// A file of settings that is read.
pub(super) struct Settings<'a> {
    pub(super) path: &'a Path,
    pub(super) layer: Layer,
    pub(super) text: &'a str,
    pub(super) problems: &'a mut Vec<CommandProblem>,
    pub(super) into: &'a mut Imported,
}

/// Adds the commands of a file, its problems and its warnings.
pub(in crate::command) fn import(
    path: &Path,
    layer: Layer,
    into: &mut Imported,
    problems: &mut Vec<CommandProblem>,
) {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("{} cannot be read: {error}", path.display());
            problems.push(CommandProblem::new(CommandPlace::Builder, "settings", message));
            return;
        }
    };
    match serde_json::from_str::<Value>(&text) {
        Ok(value) => Settings { path, layer, text: &text, problems, into }.read(&value),
        Err(error) => {
            let at = Position { line: error.line(), column: error.column().max(1) };
            let place = at.in_file(path.to_owned());
            problems.push(CommandProblem::new(place, "settings", format!("invalid JSON: {error}")));
        }
    }
}

impl Settings<'_> {
    pub(super) fn problem(&mut self, steps: &[Step<'_>], field: &'static str, message: &str) {
        let place = self.position(steps).in_file(self.path.to_owned());
        self.problems.push(CommandProblem::new(place, field, message));
    }

    pub(super) fn warn(&mut self, steps: &[Step<'_>], message: &str) {
        let place = self.position(steps).in_file(self.path.to_owned());
        self.into.warnings.push(format!("{place}: {message}"));
    }

    pub(super) fn position(&self, steps: &[Step<'_>]) -> Position {
        position(self.text, steps)
    }

    fn read(&mut self, value: &Value) {
        let Some(settings) = value.as_object() else {
            self.problem(&[], "settings", "expected an object with `hooks`");
            return;
        };
        let flag = |name| settings.get(name) == Some(&Value::Bool(true));
        if flag("allowManagedHooksOnly") && self.layer == Layer::Managed {
            self.into.is_only_managed = true;
        }
        if flag("disableAllHooks") {
            self.warn(&[Step::Key("disableAllHooks")], "the hooks of this file are disabled");
            return;
        }
        match settings.get("hooks") {
            None => {}
            Some(Value::Object(events)) => self.read_events(events),
            Some(_) => {
                self.problem(&[Step::Key("hooks")], "hooks", "expected an object of events");
            }
        }
    }

    fn read_events(&mut self, events: &Map<String, Value>) {
        for (name, groups) in events {
            let steps = [Step::Key("hooks"), Step::Key(name)];
            let parsed = name.parse::<CommandEvent>();
            if let Err(near) = parsed.as_ref().map_err(UnknownEvent::near)
                && let Some(near) = near
            {
                // A guard whose event is misspelt would never run.
                let message = format!("unknown event `{name}`, did you mean `{near}`?");
                self.problem(&steps, "event", &message);
                continue;
            }
            let Ok(event) = parsed else {
                let message = format!("`{name}` never occurs here, its hooks do not run");
                self.warn(&steps, &message);
                continue;
            };
            let Some(groups) = groups.as_array() else {
                self.problem(
                    &steps,
                    "hooks",
                    "expected a list of groups with `matcher` and `hooks`",
                );
                continue;
            };
            for (index, group) in groups.iter().enumerate() {
                self.read_group(event, index, group);
            }
        }
    }

    fn read_group(&mut self, event: CommandEvent, index: usize, group: &Value) {
        let steps = vec![Step::Key("hooks"), Step::Key(event.name()), Step::Index(index)];
        let below = |key| [&steps[..], &[Step::Key(key)]].concat();
        for key in group.as_object().into_iter().flat_map(Map::keys) {
            if let Some(known) = misspelt(key, GROUP) {
                let message = format!("unknown key `{key}`, did you mean `{known}`?");
                self.problem(&below(key), "hooks", &message);
            } else if !GROUP.contains(&key.as_str()) {
                self.warn(&below(key), &format!("`{key}` is ignored"));
            }
        }
        let (matcher, handlers) = (group.get("matcher"), group.get("hooks"));
        let is_sequential = group.get("sequence") == Some(&Value::Bool(true));
        let matcher = match matcher {
            None | Some(Value::Null) => None,
            Some(Value::String(matcher)) => Some(matcher.as_str()),
            Some(_) => {
                self.problem(&below("matcher"), "matcher", "expected a text");
                return;
            }
        };
        let Some(handlers) = handlers.and_then(Value::as_array) else {
            self.problem(&below("hooks"), "hooks", "expected a list of handlers");
            return;
        };
        for (index, handler) in handlers.iter().enumerate() {
            let group = Group { event, matcher, is_sequential, steps: &steps };
            read_handler(self, &group, index, handler);
        }
    }
}
