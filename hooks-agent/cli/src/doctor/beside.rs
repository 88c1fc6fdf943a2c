//! Other hooks of an agent, which may change what the guard has let pass.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::doctor::hole::Findings;
use crate::doctor::installed::Installed;
use crate::doctor::voided::elsewhere;
use crate::install::files::Files;
use crate::install::place::Place;

/// The events at which hooks may give a tool other arguments.
const BEFORE: [&str; 3] = ["PreToolUse", "BeforeTool", "preToolUse"];

/// Names the files whose hooks may change arguments after the guard has seen them.
pub(super) fn examine(
    installed: &Installed,
    place: &Place,
    path: &Path,
    folder: &Path,
    findings: &mut Findings,
) {
    let mut examine = |settings: &serde_json::Map<String, Value>, path: &Path| {
        for event in place.events.iter().filter(|event| BEFORE.contains(event)) {
            let others = settings.get("hooks").map_or(0, |hooks| others(&hooks[*event]));
            if others > 0 {
                findings.note(format!(
                    "{event}: {} has {others} more, which run beside the guard: it does not see arguments that they change",
                    path.display()
                ));
            }
        }
    };
    let here = fs::read_to_string(path).ok().and_then(|text| serde_json::from_str(&text).ok());
    if let Some(settings) = &here {
        examine(settings, path);
    }
    if installed.agent.name() == "claude" {
        let at = path.canonicalize().ok();
        elsewhere(
            folder,
            ".claude",
            &["settings.json", "settings.local.json"],
            |settings, path| {
                if path.canonicalize().ok() != at {
                    examine(settings, path);
                }
            },
        );
    }
}

/// Returns how many hooks of an event are of others.
fn others(groups: &Value) -> usize {
    let groups = groups.as_array().into_iter().flatten();
    let hooks = groups.flat_map(|group| match group.get("hooks").and_then(Value::as_array) {
        Some(hooks) => hooks.iter().collect(),
        None => vec![group],
    });
    let is_ours = |hook: &Value| {
        let line = hook.get("command").or_else(|| hook.get("bash"));
        line.and_then(Value::as_str).is_some_and(|line| line.contains("hooks-agent"))
    };
    hooks.filter(|hook| !is_ours(hook)).count()
}

/// Names other plug-ins in the folder of the guard's own.
pub(super) fn examine_files(installed: &Installed, files: &Files, findings: &mut Findings) {
    if installed.agent.name() != "opencode" {
        return;
    }
    let ours: Vec<_> = files.files.iter().map(|(path, _)| path.as_path()).collect();
    for folder in ours.iter().filter_map(|path| path.parent()) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_code = path.extension().is_some_and(|it| it == "js" || it == "ts");
            if is_code && !ours.contains(&path.as_path()) {
                findings.note(format!(
                    "another plug-in runs beside the guard, which does not see arguments that it changes: {}",
                    path.display()
                ));
            }
        }
    }
}
