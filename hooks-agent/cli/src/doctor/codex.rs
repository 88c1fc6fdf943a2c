//! Codex: which hooks it runs is in a file of its own, and it can be asked.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};
use toml::Table;

use crate::doctor::fire::PATIENCE;
use crate::doctor::handlers::of_guard;
use crate::doctor::hole::Findings;
use crate::doctor::installed::{HookFiles, Installed};
use crate::home::home;

/// Examines the file that switches the hooks of Codex on and off, and says which are trusted.
pub(super) fn examine(installed: &Installed, findings: &mut Findings) {
    let Some((path, config)) = config() else {
        findings.hole("no hook runs: ~/.codex/config.toml is no TOML", "mend ~/.codex/config.toml");
        return;
    };
    let feature = config.get("features").and_then(|features| features.get("hooks"));
    if feature.and_then(toml::Value::as_bool) == Some(false) {
        findings.hole(
            format!("no hook runs: `features.hooks` is false in {}", path.display()),
            "write hooks = true below [features]",
        );
    }
    if let Some(project) = installed.project.as_ref().and_then(|it| it.canonicalize().ok()) {
        let level =
            config.get("projects").and_then(|it| it.get(project.to_str()?)?.get("trust_level"));
        if level.and_then(toml::Value::as_str) != Some("trusted") {
            findings.hole(
                format!("the hooks do not run: Codex does not trust {}", project.display()),
                format!("start `codex` in {} once, and trust the folder", project.display()),
            );
        }
    }
}

/// Examines whether a person trusted the hooks: Codex says so, or else its file does.
pub(super) fn examine_trust(
    installed: &Installed,
    program: Option<&Path>,
    folder: &Path,
    findings: &mut Findings,
) {
    if !program.is_some_and(|program| listed(installed, program, folder, findings)) {
        by_file(installed, findings);
    }
}

fn by_file(installed: &Installed, findings: &mut Findings) {
    let HookFiles::Settings(place, hooks) = &installed.hooks else { return };
    let Some((path, config)) = config() else { return };
    let Some(settings) = settings_in(hooks) else { return };
    findings.note("whether a hook is as it was when somebody trusted it, `codex` alone can say");
    for handler in of_guard(place, &settings) {
        let key = trust_key(hooks, handler.event, handler.place);
        let state = config.get("hooks").and_then(|it| it.get("state")?.get(&key));
        let is_disabled = state.and_then(|it| it.get("enabled")?.as_bool()) == Some(false);
        let has_trust = state.and_then(|it| it.get("trusted_hash")).is_some();
        let event = handler.event;
        if is_disabled {
            findings.hole(
                format!(
                    "{event}: Codex has the hook of the guard switched off in {}",
                    path.display()
                ),
                "start `codex`, write /hooks, and enable it",
            );
        } else if !has_trust {
            findings.hole(
                format!("{event}: the hook never runs: nobody trusted it in Codex"),
                "start `codex`, write /hooks, and trust it",
            );
        }
    }
}

/// Returns the name under which Codex keeps whether a hook is trusted.
fn trust_key(hooks: &Path, event: &str, (group, handler): (usize, usize)) -> String {
    let mut name = String::new();
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    let path = hooks.canonicalize().unwrap_or_else(|_| hooks.to_owned());
    format!("{}:{name}:{group}:{handler}", path.display())
}

/// Reads the file that switches hooks on and off; nothing if it is none.
fn config() -> Option<(PathBuf, Table)> {
    let path = home().ok()?.join(".codex/config.toml");
    let text = fs::read_to_string(&path).unwrap_or_default();
    let config = text.parse().ok()?;
    Some((path, config))
}

fn settings_in(path: &Path) -> Option<serde_json::Map<String, Value>> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

/// Asks Codex which hooks it runs.
fn listed(installed: &Installed, program: &Path, folder: &Path, findings: &mut Findings) -> bool {
    let HookFiles::Settings(place, path) = &installed.hooks else { return false };
    let mut command = Command::new(program);
    command.arg("app-server");
    let client =
        json!({ "clientInfo": { "name": "hooks-agent", "version": env!("CARGO_PKG_VERSION") } });
    let asks = [
        json!({ "id": 1, "method": "initialize", "params": client }),
        json!({ "method": "initialized" }),
        json!({ "id": 2, "method": "hooks/list", "params": { "cwds": [folder] } }),
    ];
    let input = asks.map(|ask| format!("{ask}\n")).concat();
    let Some(listed) = answer(command, &input) else {
        findings.note("`codex` did not say which hooks it runs");
        return false;
    };
    let Some(listed) = listed["result"]["data"].get(0) else { return false };
    for list in ["errors", "warnings"] {
        for said in listed[list].as_array().into_iter().flatten() {
            let said = said.as_str().map_or_else(|| said.to_string(), str::to_owned);
            findings.note(format!("`codex` says: {said}"));
        }
    }
    for event in place.events {
        let hooks = listed["hooks"].as_array().into_iter().flatten();
        let is_ours = |hook: &&Value| {
            let command = hook["command"].as_str().unwrap_or_default();
            let name = hook["eventName"].as_str().unwrap_or_default();
            name.eq_ignore_ascii_case(event) && command.contains("hooks-agent")
        };
        let of_event: Vec<_> = hooks.filter(is_ours).collect();
        if of_event.is_empty() {
            findings.hole(
                format!("{event}: `codex` does not have the hook of {}", path.display()),
                installed.again(),
            );
        }
        for hook in of_event {
            if hook["enabled"] == false {
                findings.hole(
                    format!("{event}: Codex has the hook of the guard switched off"),
                    "start `codex`, write /hooks, and enable it",
                );
            }
            let trust = hook["trustStatus"].as_str().unwrap_or_default();
            if !matches!(trust, "trusted" | "managed") {
                findings.hole(
                    format!("{event}: the hook never runs: `codex` says that it is {trust}"),
                    "start `codex`, write /hooks, and trust it",
                );
            }
        }
    }
    true
}

/// Returns the second answer of a server. Its input stays open until then: it ends with it.
fn answer(mut command: Command, asks: &str) -> Option<Value> {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = piped.spawn().ok()?;
    let (mut stdin, stdout) = (server.stdin.take()?, server.stdout.take()?);
    let (said, answers) = mpsc::channel();
    thread::spawn(move || {
        let lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let mut answers = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        said.send(answers.find(|answer| answer["id"] == 2))
    });
    let found = match stdin.write_all(asks.as_bytes()) {
        Ok(()) => answers.recv_timeout(PATIENCE).ok().flatten(),
        Err(_) => None,
    };
    // It has ended by itself, or is of no more use.
    let _ = server.kill();
    let _ = server.wait();
    found
}
