//! The import of a file of settings.

use hooks_agent_core::text::misspelt;
use serde_json::{Map, Value};

use crate::command::contract::{CommandEvent, UnknownEvent, reason_of};
use crate::command::entry::{Layer, Matcher};
use crate::command::error::{CommandPlace, CommandProblem};
use crate::command::settings::file::SettingsFile;
use crate::command::settings::handler::{Group, read_handler};
use crate::command::settings::imported::{Imported, Position};
use crate::command::settings::matchers::{Use, look_at};
use crate::command::settings::position::Step;
use crate::command::settings::reading::Settings;

/// The keys of a file that are read. Others are those of the coding agent.
const FILE: [&str; 4] = ["allowManagedHooksOnly", "disableAllHooks", "env", "hooks"];

/// Keys by which a coding agent guards, and which nothing here reads.
const NOT_APPLIED: [(&str, &str); 3] = [
    ("allowedHttpHookUrls", "the program allows hosts by `CommandHooksBuilder::allow_hosts`"),
    ("permissions", "deny tools by a command, or by `deny_tools` of a policy"),
    ("sandbox", "run the program itself in a sandbox"),
];

/// The keys of a group.
const GROUP: [&str; 3] = ["matcher", "hooks", "sequence"];

/// Adds the commands of a file, its problems and its warnings.
pub(crate) fn import(
    file: &SettingsFile,
    layer: Layer,
    into: &mut Imported,
    problems: &mut Vec<CommandProblem>,
) {
    let path = file.path.as_path();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("{} cannot be read: {error}", path.display());
            problems.push(CommandProblem::new(CommandPlace::Builder, "settings", message));
            return;
        }
    };
    let text = text.trim_start_matches('\u{feff}');
    match serde_json::from_str::<Value>(text) {
        Ok(value) => {
            let root = file.plugin().map(std::path::absolute);
            let root = root.and_then(Result::ok).map(|root| root.to_string_lossy().into_owned());
            let env =
                root.map(|root| ("CLAUDE_PLUGIN_ROOT".to_owned(), root)).into_iter().collect();
            let pass_env = &file.pass_env;
            let mut settings = Settings { path, layer, text, env, pass_env, problems, into };
            settings.read(&value, &file.env);
        }
        Err(error) => {
            let at = Position { line: error.line(), column: error.column().max(1) };
            let place = at.in_file(path.to_owned());
            problems.push(CommandProblem::new(place, "settings", reason_of(&error)));
        }
    }
}

impl Settings<'_> {
    fn read(&mut self, value: &Value, env: &[(String, String)]) {
        let Some(settings) = value.as_object() else {
            self.problem(&[], "settings", "expected an object with `hooks`");
            return;
        };
        self.read_keys(settings);
        self.env.extend_from_slice(env);
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

    /// Reads the `env`, and reports keys that are misspelt, of another type or not applied.
    fn read_keys(&mut self, settings: &Map<String, Value>) {
        for (key, value) in settings {
            let steps = [Step::Key(key)];
            if let Some(known) = misspelt(key, FILE) {
                let message = format!("unknown key `{key}`, did you mean `{known}`?");
                self.problem(&steps, "settings", &message);
            }
            let is_flag = key.starts_with("disableAll") || key.starts_with("allowManaged");
            if is_flag && FILE.contains(&key.as_str()) && !value.is_boolean() {
                self.problem(&steps, "settings", "expected `true` or `false`");
            }
            if let Some((_, instead)) = NOT_APPLIED.iter().find(|(name, _)| name == key) {
                self.warn(&steps, &format!("`{key}` is not applied here: {instead}"));
            }
        }
        let Some(env) = settings.get("env").filter(|env| !env.is_null()) else { return };
        let pairs = env.as_object().map(|env| {
            env.iter().map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        });
        match pairs.and_then(Iterator::collect::<Option<Vec<_>>>) {
            Some(pairs) => self.env.extend(pairs),
            None => self.problem(&[Step::Key("env")], "env", "expected an object of texts"),
        }
    }

    fn read_events(&mut self, events: &Map<String, Value>) {
        for (name, groups) in events {
            let steps = [Step::Key("hooks"), Step::Key(name)];
            let parsed = name.parse::<CommandEvent>();
            if let Err(near) = parsed.as_ref().map_err(UnknownEvent::near)
                && let Some(near) = near
                && !CommandEvent::OF_CODING_AGENTS.contains(&name.as_str())
            {
                // A guard whose event is misspelt would never run.
                let message = format!("unknown event `{name}`, did you mean `{near}`?");
                self.problem(&steps, "event", &message);
                continue;
            }
            if parsed.is_err() && is_of_another_form(name) {
                // A guard at it would never run.
                let message = format!(
                    "`{name}` is an event of agents whose hooks have another form, and never occurs here: \
                     write its hooks at an event such as `PreToolUse`"
                );
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
        let before = self.problems.len();
        let (matcher, handlers) = (group.get("matcher"), group.get("hooks"));
        let is_sequential = group.get("sequence") == Some(&Value::Bool(true));
        let mut matcher = match matcher {
            None | Some(Value::Null) => None,
            Some(Value::String(matcher)) => Some(matcher.as_str()),
            Some(_) => {
                self.problem(&below("matcher"), "matcher", "expected a text");
                None
            }
        };
        // A mistake of the matcher is reported once, and the handlers are looked at all the same.
        let checked = Matcher::new(matcher).map_err(|message| {
            self.problem(&below("matcher"), "matcher", &message);
        });
        match checked.map(|checked| look_at(event, &checked)) {
            Ok(Use::Runs) | Err(()) => {}
            Ok(Use::Ignored(message)) => {
                self.warn(&below("matcher"), &message);
                matcher = None;
            }
            Ok(Use::Never(message)) => {
                self.warn(&below("matcher"), &message);
                return;
            }
            Ok(Use::Mistaken(message)) => self.problem(&below("matcher"), "matcher", &message),
        }
        let is_broken = self.problems.len() > before;
        let Some(handlers) = handlers.and_then(Value::as_array) else {
            self.problem(&below("hooks"), "hooks", "expected a list of handlers");
            return;
        };
        for (index, handler) in handlers.iter().enumerate() {
            let group = Group { event, matcher, is_sequential, is_broken, steps: &steps };
            read_handler(self, &group, index, handler);
        }
    }
}

/// Events of Gemini CLI, which are written as those of Claude Code are.
const OF_GEMINI: [&str; 8] = [
    "AfterAgent",
    "AfterModel",
    "AfterTool",
    "BeforeAgent",
    "BeforeModel",
    "BeforeTool",
    "BeforeToolSelection",
    "PreCompress",
];

/// Returns whether an event is one of an agent whose hooks have another form: Copilot CLI, Cursor, Windsurf, Gemini CLI.
fn is_of_another_form(name: &str) -> bool {
    let is_capital = name.starts_with(|first: char| first.is_ascii_uppercase());
    !is_capital || OF_GEMINI.contains(&name)
}
