//! The hooks in the settings of an agent: whether each event has the guard, and nothing keeps it from running.

use std::fs;
use std::path::Path;

use regex::Regex;
use serde_json::{Map, Value};

use crate::doctor::hole::Findings;
use crate::doctor::installed::Installed;
use crate::install::place::Place;

/// How many seconds an agent waits longer than its guard takes, at least.
const MARGIN: u64 = 2;

/// How many seconds an agent waits at most: a longer limit is none, or is passed over.
const LONGEST: f64 = 86_400.0;

/// A hook that runs a guard.
pub(super) struct Handler<'a> {
    pub(super) event: &'static str,
    /// Its group, where an agent has them, else the hook itself.
    group: &'a Value,
    /// Its place in the event, and in the group.
    pub(super) place: (usize, usize),
    hook: &'a Value,
    pub(super) command: &'a str,
}

/// Reads the settings. Those that are not what the agent takes are a hole.
pub(super) fn settings(
    installed: &Installed,
    path: &Path,
    findings: &mut Findings,
) -> Option<Map<String, Value>> {
    let shown = path.display();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            findings
                .hole(format!("no hook runs: {shown} cannot be read: {error}"), installed.again());
            return None;
        }
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(settings)) => Some(settings),
        Ok(_) => {
            findings.hole(
                format!("no hook runs: {shown} is no JSON object"),
                "write it as {\"hooks\": {..}}, then install the guard again",
            );
            None
        }
        Err(error) => {
            findings.hole(
                format!("no hook runs: {shown} is no JSON: {error}"),
                format!("mend line {} of it", error.line()),
            );
            None
        }
    }
}

/// Returns the hooks that run a guard.
pub(super) fn of_guard<'a>(place: &Place, settings: &'a Map<String, Value>) -> Vec<Handler<'a>> {
    let mut found = Vec::new();
    for event in place.events {
        let groups = settings.get("hooks").and_then(|hooks| hooks.get(*event));
        for (index, group) in groups.and_then(Value::as_array).into_iter().flatten().enumerate() {
            let hooks = match group.get("hooks").and_then(Value::as_array) {
                Some(hooks) => hooks.iter().collect(),
                None => vec![group],
            };
            for (at, hook) in hooks.into_iter().enumerate() {
                let command = hook.get("command").or_else(|| hook.get("bash"));
                let Some(command) = command.and_then(Value::as_str) else { continue };
                if command.contains("hooks-agent") {
                    found.push(Handler { event, group, place: (index, at), hook, command });
                }
            }
        }
    }
    found
}

/// Examines the hooks of each event.
pub(super) fn examine(
    installed: &Installed,
    place: &Place,
    path: &Path,
    handlers: &[Handler<'_>],
    deadline: Option<u64>,
    findings: &mut Findings,
) {
    for event in place.events {
        let of_event: Vec<_> = handlers.iter().filter(|it| it.event == *event).collect();
        if of_event.is_empty() {
            findings.hole(format!("{event}: no hook runs the guard"), installed.again());
        }
        for handler in of_event {
            examine_command(installed, handler, findings);
            examine_matcher(place, path, handler, findings);
            examine_options(place, handler, deadline, findings);
            examine_rest(installed, place, handler, findings);
        }
    }
}

/// Finds what else of a hook is not as `install` writes it: another type, a condition, another form.
fn examine_rest(
    installed: &Installed,
    place: &Place,
    handler: &Handler<'_>,
    findings: &mut Findings,
) {
    let event = handler.event;
    let Ok(command) = installed.script.command(installed.agent, event) else { return };
    let group = place.entry(&command);
    let hook = group.get("hooks").map_or(&group, |hooks| &hooks[0]);
    let is_grouped = handler.group.get("hooks").is_some();
    if is_grouped != group.get("hooks").is_some() {
        findings
            .hole(format!("{event}: the hook is not in the form of this agent"), installed.again());
    }
    let (Value::Object(written), Value::Object(here)) = (hook, handler.hook) else { return };
    let known = |name: &str| {
        matches!(name, "async" | "matcher" | "hooks")
            || place.switch.is_some_and(|(switch, _)| switch == name)
            || place.timeout.is_some_and(|(timeout, _)| timeout == name)
            || matches!(name, "command" | "bash")
    };
    let names = written.keys().chain(here.keys());
    let differs = |name: &&String| !known(name) && written.get(*name) != here.get(*name);
    for name in names.filter(differs) {
        findings.hole(
            format!("{event}: `{name}` of the hook is not as `install` writes it"),
            installed.again(),
        );
    }
    let of_line = written.keys().find(|name| matches!(name.as_str(), "command" | "bash"));
    if of_line.is_some_and(|name| here.get(name) != written.get(name)) {
        findings.hole(
            format!("{event}: the hook does not run the line of `install`"),
            installed.again(),
        );
    }
}

fn examine_command(installed: &Installed, handler: &Handler<'_>, findings: &mut Findings) {
    let Handler { event, command, .. } = handler;
    let is_ours = installed.script.command(installed.agent, event);
    if !is_ours.is_ok_and(|written| written == *command) {
        findings.hole(
            format!("{event}: the hook runs `{command}`, which is not the line of `install`"),
            installed.again(),
        );
    }
}

fn examine_matcher(place: &Place, path: &Path, handler: &Handler<'_>, findings: &mut Findings) {
    let event = handler.event;
    let Some(matcher) = handler.group.get("matcher").or_else(|| handler.hook.get("matcher")) else {
        return;
    };
    let mend =
        format!("remove \"matcher\" from the hook of the guard at {event}, in {}", path.display());
    let Some(matcher) = matcher.as_str() else {
        findings.hole(format!("{event}: the matcher is no text, so the hook never runs"), mend);
        return;
    };
    if place.all_tools.contains(&matcher) {
        return;
    }
    let fits_none = Regex::new(matcher).is_err() || matches!(matcher, "" | "*");
    let what = if fits_none {
        format!("{event}: the matcher `{matcher}` fits no tool, so the hook never runs")
    } else {
        format!("{event}: the matcher `{matcher}` leaves tools out, which run without the guard")
    };
    findings.hole(what, mend);
}

fn examine_options(
    place: &Place,
    handler: &Handler<'_>,
    deadline: Option<u64>,
    findings: &mut Findings,
) {
    let Handler { event, hook, .. } = handler;
    if hook.get("async").is_some_and(|it| *it != Value::Bool(false)) {
        findings.hole(
            format!("{event}: the hook is async, so the agent goes on without its answer"),
            format!("remove \"async\" from the hook of the guard at {event}"),
        );
    }
    if let Some((switch, value)) = place.switch
        && hook.get(switch) != Some(&Value::from(value))
    {
        findings.hole(
            format!(
                "{event}: without `{switch}` the agent goes on if the guard fails or takes too long"
            ),
            format!(
                "write \"{switch}\": {} in the hook of the guard at {event}",
                Value::from(value)
            ),
        );
    }
    let (Some((field, a_second)), Some(deadline)) = (place.timeout, deadline) else { return };
    let Some(limit) = hook.get(field) else { return };
    let seconds = limit.as_f64().map(|limit| limit / a_second);
    #[expect(clippy::cast_precision_loss, reason = "seconds are few")]
    let least = (deadline + MARGIN) as f64;
    if !seconds.is_some_and(|seconds| (least..=LONGEST).contains(&seconds)) {
        findings.hole(
            format!(
                "{event}: the agent waits for `{field}`: {limit}, and the guard takes up to {deadline} seconds: \
                 the tool would run without its answer"
            ),
            format!("write \"{field}\": {} in the hook of the guard at {event}", least * a_second * 1.5),
        );
    }
}
