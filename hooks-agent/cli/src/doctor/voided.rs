//! Switches that keep all hooks of an agent from running, wherever they are written.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::doctor::codex;
use crate::doctor::hole::Findings;
use crate::doctor::installed::{HookFiles, Installed};
use crate::home::home;

/// Examines the settings that are not those of the guard, and the variables of the environment.
pub(super) fn examine(
    installed: &Installed,
    settings: Option<&Map<String, Value>>,
    folder: &Path,
    findings: &mut Findings,
) {
    let path = match &installed.hooks {
        HookFiles::Settings(_, path) => path.clone(),
        HookFiles::Own(_) => PathBuf::new(),
    };
    match installed.agent.name() {
        "claude" => {
            if let Some(settings) = settings {
                switched_off(settings, &path, findings);
                wrong_types(settings, &path, findings);
            }
            // Those of a project hold over those of the user, and of the folders above; and the other way round.
            elsewhere(
                folder,
                ".claude",
                &["settings.json", "settings.local.json"],
                |settings, path| {
                    switched_off(settings, path, findings);
                },
            );
            let managed = Path::new("/etc/claude-code/managed-settings.json");
            if let Some(settings) = object(managed) {
                switched_off(&settings, managed, findings);
                if settings.get("allowManagedHooksOnly") == Some(&Value::Bool(true)) {
                    findings.hole(
                        format!(
                            "no hook of the user runs: `allowManagedHooksOnly` in {}",
                            managed.display()
                        ),
                        format!("have the guard written into {}", managed.display()),
                    );
                }
            }
        }
        "gemini" | "qwen" => {
            if let Some(settings) = settings {
                hooks_config(settings, &path, findings);
            }
            let of_agent = if installed.agent.name() == "qwen" { ".qwen" } else { ".gemini" };
            elsewhere(folder, of_agent, &["settings.json"], |settings, path| {
                hooks_config(settings, path, findings);
                switched_off(settings, path, findings);
            });
            if let (Some(project), "gemini") = (&installed.project, installed.agent.name()) {
                trusted_by_gemini(project, findings);
            }
        }
        "copilot" => {
            if let Some(settings) = settings {
                switched_off(settings, &path, findings);
            }
        }
        "codex" => codex::examine(installed, findings),
        "opencode" if env::var_os("OPENCODE_PURE").is_some_and(|it| it == "1" || it == "true") => {
            findings
                .hole("no plug-in is loaded: `OPENCODE_PURE` is set", "run: unset OPENCODE_PURE");
        }
        "cursor" => {
            let events = settings.and_then(|settings| settings.get("hooks")?.as_object());
            for event in events.into_iter().flat_map(Map::keys) {
                if !installed.agent.has_event(event) {
                    findings.hole(
                        format!(
                            "no hook of {} runs: Cursor has no event `{event}`",
                            path.display()
                        ),
                        format!("remove \"{event}\" from it"),
                    );
                }
            }
        }
        _ => {}
    }
}

/// Reads the settings of the user, of a folder and of those above it.
pub(super) fn elsewhere(
    folder: &Path,
    of_agent: &str,
    names: &[&str],
    mut examine: impl FnMut(&Map<String, Value>, &Path),
) {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let home = home().ok();
    for folder in folder.ancestors().chain(home.as_deref()) {
        for name in names {
            let path = folder.join(of_agent).join(name);
            if let Some(settings) = object(&path) {
                examine(&settings, &path);
            }
        }
    }
}

/// Reads a file of settings, if it is one.
fn object(path: &Path) -> Option<Map<String, Value>> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

fn switched_off(settings: &Map<String, Value>, path: &Path, findings: &mut Findings) {
    if let Some(value) = settings.get("disableAllHooks")
        && *value != Value::Bool(false)
    {
        findings.hole(
            format!("no hook runs: `disableAllHooks` is {value} in {}", path.display()),
            format!("remove \"disableAllHooks\" from {}", path.display()),
        );
    }
}

/// Finds values of another type than Claude Code takes: it passes over the whole file then.
fn wrong_types(settings: &Map<String, Value>, path: &Path, findings: &mut Findings) {
    let is_texts =
        |value: &Value| value.as_array().is_some_and(|values| values.iter().all(Value::is_string));
    let mut wrong = |field: String, expected: &str| {
        findings.hole(
            format!(
                "no hook runs: `{field}` in {} is no {expected}, which voids the file",
                path.display()
            ),
            format!("write \"{field}\" as {expected}, or remove it"),
        );
    };
    if settings.get("env").is_some_and(|env| !env.is_object()) {
        wrong("env".to_owned(), "object of texts");
    }
    match settings.get("permissions") {
        Some(Value::Object(permissions)) => {
            for list in ["allow", "deny", "ask", "additionalDirectories"] {
                if permissions.get(list).is_some_and(|value| !is_texts(value)) {
                    wrong(format!("permissions.{list}"), "list of texts");
                }
            }
        }
        Some(_) => wrong("permissions".to_owned(), "object"),
        None => {}
    }
    match settings.get("hooks") {
        Some(Value::Object(events)) => {
            for (event, groups) in events {
                if !groups.is_array() {
                    wrong(format!("hooks.{event}"), "list of hooks");
                }
            }
        }
        Some(_) => wrong("hooks".to_owned(), "object of events"),
        None => {}
    }
}

fn hooks_config(settings: &Map<String, Value>, path: &Path, findings: &mut Findings) {
    let Some(config) = settings.get("hooksConfig") else { return };
    if config.get("enabled") == Some(&Value::Bool(false)) {
        findings.hole(
            format!("no hook runs: `hooksConfig.enabled` is false in {}", path.display()),
            format!("remove \"enabled\" from \"hooksConfig\" in {}", path.display()),
        );
    }
    let disabled = config.get("disabled").and_then(Value::as_array);
    for name in disabled.into_iter().flatten().filter_map(Value::as_str) {
        if name.contains("hooks-agent") {
            findings.hole(
                format!("the hook of the guard is in `hooksConfig.disabled` in {}", path.display()),
                "remove it from \"disabled\"",
            );
        }
    }
}

/// Examines whether Gemini CLI trusts a project: it passes over the settings of others.
fn trusted_by_gemini(project: &Path, findings: &mut Findings) {
    let Ok(home) = home() else { return };
    let Ok(project) = project.canonicalize() else { return };
    let rules = object(&home.join(".gemini/trustedFolders.json")).unwrap_or_default();
    let trusts = |(folder, rule): (&String, &Value)| {
        let folder = Path::new(folder);
        match rule.as_str() {
            Some("TRUST_FOLDER") => project.starts_with(folder),
            Some("TRUST_PARENT") => {
                folder.parent().is_some_and(|folder| project.starts_with(folder))
            }
            _ => false,
        }
    };
    let settings = object(&home.join(".gemini/settings.json")).unwrap_or_default();
    let folder_trust =
        settings.get("security").and_then(|it| it.get("folderTrust")?.get("enabled"));
    let is_off = folder_trust == Some(&Value::Bool(false));
    if !is_off && !rules.iter().any(trusts) {
        findings.hole(
            format!("the hooks do not run: Gemini CLI does not trust {}", project.display()),
            format!("start `gemini` in {} once, and trust the folder", project.display()),
        );
    }
}
