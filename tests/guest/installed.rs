//! `hooks-agent install` and `uninstall`: the settings of agents, and the script that runs the guard.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::PROGRAM;

const POLICY: &str = "version = 1\n[limits]\ndeny_tools = [\"Bash\"]\n";

pub(crate) const AGENTS: [(&str, &str); 7] = [
    ("claude", ".claude/settings.json"),
    ("codex", ".codex/hooks.json"),
    ("gemini", ".gemini/settings.json"),
    ("qwen", ".qwen/settings.json"),
    ("copilot", ".copilot/hooks/hooks-agent.json"),
    ("cursor", ".cursor/hooks.json"),
    ("windsurf", ".codeium/windsurf/hooks.json"),
];

/// The folder of a user, with a policy.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("policy.toml"), POLICY).unwrap();
        Self(folder)
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(args).env_clear().env("HOME", self.0.path()).current_dir(self.0.path());
        // Without the coding agents that a person may have.
        command.env("PATH", "/usr/bin:/bin");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub(crate) fn install(&self, agent: &str) -> Output {
        let state = self.at("threads.db");
        let state = state.to_str().unwrap();
        self.run(&["install", agent, "--policy", "policy.toml", "--state", state])
    }

    pub(crate) fn read(&self, path: &str) -> Value {
        serde_json::from_slice(&fs::read(self.at(path)).unwrap()).unwrap()
    }
}

/// The command of the first entry of an event.
pub(crate) fn command_of(entry: &Value) -> String {
    let handler = entry.get("hooks").map_or(entry, |handlers| &handlers[0]);
    handler.get("command").or_else(|| handler.get("bash")).unwrap().as_str().unwrap().to_owned()
}

/// What a command that an agent runs answers to an event.
pub(crate) fn hooked(home: &Home, command: &str, event: &Value) -> Output {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .current_dir(home.0.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ =
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), event.to_string().as_bytes());
    child.wait_with_output().unwrap()
}

pub(crate) fn succeeded(output: &Output) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
}

pub(crate) fn replaced(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replace(from, to)).unwrap();
}

#[test]
fn an_installed_guard_is_at_each_event_and_leaves_the_rest_as_it_was() {
    for (agent, path) in AGENTS {
        let home = Home::new();
        let of_others = json!({ "theme": "dark", "hooks": { "Other": [{ "hooks": [{ "type": "command", "command": "true" }] }] }, "a": 1 });
        fs::create_dir_all(home.at(path).parent().unwrap()).unwrap();
        fs::write(home.at(path), of_others.to_string()).unwrap();
        succeeded(&home.install(agent));
        let once = home.read(path);
        for event in once["hooks"].as_object().unwrap().keys().filter(|event| *event != "Other") {
            let entries = once["hooks"][event].as_array().unwrap();
            assert_eq!(entries.len(), 1);
            assert!(command_of(&entries[0]).contains(&format!("{agent}.sh")), "{once}");
        }
        assert_eq!(once["hooks"]["Other"], of_others["hooks"]["Other"]);
        let names: Vec<_> = once.as_object().unwrap().keys().take(3).cloned().collect();
        assert_eq!(names, ["theme", "hooks", "a"], "the order of the author");
        // Again: nothing is there twice.
        succeeded(&home.install(agent));
        assert_eq!(home.read(path), once);
        succeeded(&home.run(&["uninstall", agent]));
        let mut left = home.read(path);
        left.as_object_mut().unwrap().remove("version");
        assert_eq!(left, of_others);
        assert!(!home.at(&format!(".config/hooks-agent/{agent}.sh")).exists());
    }
}

#[test]
fn a_plug_in_asks_the_guard_of_opencode() {
    let home = Home::new();
    succeeded(&home.install("opencode"));
    let plugin = home.at(".config/opencode/plugin/hooks-agent.js");
    let text = fs::read_to_string(&plugin).unwrap();
    let script = home.at(".config/hooks-agent/opencode.sh");
    assert!(text.contains(&format!("const script = {}\n", json!(script.to_str().unwrap()))));
    let event = json!({
        "hook": "tool.execute.before", "input": { "sessionID": "s", "tool": "Bash" },
        "output": { "args": {} },
    });
    let command = format!("sh '{}' tool.execute.before", script.display());
    let denied = hooked(&home, &command, &event);
    let answer: Value = serde_json::from_slice(&denied.stdout).unwrap();
    assert!(answer["deny"].as_str().unwrap().contains("Bash"), "{answer}");
    succeeded(&home.run(&["uninstall", "opencode"]));
    assert!(!plugin.exists() && !script.exists());
}

#[test]
fn cline_has_a_program_for_each_event_and_none_of_others_is_replaced() {
    let home = Home::new();
    succeeded(&home.install("cline"));
    let hook = home.at(".cline/hooks/PreToolUse");
    let event = json!({
        "clineVersion": "", "hookName": "tool_call", "taskId": "t",
        "tool_call": { "id": "1", "name": "Bash", "input": {} },
    });
    let denied = hooked(&home, hook.to_str().unwrap(), &event);
    assert_eq!(serde_json::from_slice::<Value>(&denied.stdout).unwrap()["cancel"], true);
    fs::remove_file(home.at(".config/hooks-agent/cline.sh")).unwrap();
    let no_script = hooked(&home, hook.to_str().unwrap(), &event);
    assert_eq!(serde_json::from_slice::<Value>(&no_script.stdout).unwrap()["cancel"], true);
    succeeded(&home.run(&["uninstall", "cline"]));
    assert!(!hook.exists());
    fs::write(&hook, "#!/bin/sh\n").unwrap();
    let refused = home.install("cline");
    assert!(String::from_utf8(refused.stderr).unwrap().contains("is another hook"));
    succeeded(&home.run(&["uninstall", "cline"]));
    assert_eq!(fs::read_to_string(&hook).unwrap(), "#!/bin/sh\n");
}

#[test]
fn settings_that_were_not_there_are_gone_again() {
    for (agent, path) in AGENTS {
        let home = Home::new();
        succeeded(&home.install(agent));
        assert!(home.at(path).exists());
        succeeded(&home.run(&["uninstall", agent]));
        assert!(!home.at(path).exists());
    }
}

#[test]
fn a_guard_that_is_killed_missing_or_silent_blocks_in_the_form_of_the_agent() {
    let event = json!({
        "session_id": "s", "turn_id": "1", "hook_event_name": "PreToolUse", "tool_name": "Read",
        "tool_input": {}, "permission_mode": "bypassPermissions",
    });
    let home = Home::new();
    succeeded(&home.install("codex"));
    let command = command_of(&home.read(".codex/hooks.json")["hooks"]["PreToolUse"][0]);
    let script = home.at(".config/hooks-agent/codex.sh");
    let whole = fs::read_to_string(&script).unwrap();
    let passed = hooked(&home, &command, &event);
    assert_eq!(String::from_utf8(passed.stdout).unwrap(), "{}\n");

    let dead = home.at("dead");
    for (name, body) in [
        ("killed", "kill -9 $$"),
        ("failed", "exit 1"),
        ("silent", "exit 0"),
        ("asked to go on", "echo '{}'; exit 3"),
    ] {
        fs::write(&dead, format!("#!/bin/sh\n{body}\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&dead, mode).unwrap();
        fs::write(&script, &whole).unwrap();
        replaced(&script, PROGRAM, dead.to_str().unwrap());
        let output = hooked(&home, &command, &event);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{name}");
        assert!(output.status.success(), "{name}");
    }
    fs::remove_file(&dead).unwrap();
    let missing = hooked(&home, &command, &event);
    assert!(String::from_utf8(missing.stdout).unwrap().contains("\"deny\""));
    fs::remove_file(&script).unwrap();
    let no_script = hooked(&home, &command, &event);
    let answer: Value = serde_json::from_slice(&no_script.stdout).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
    assert!(no_script.status.success());
}

#[test]
fn settings_that_cannot_be_changed_stay_as_they_are() {
    let home = Home::new();
    fs::create_dir_all(home.at(".claude")).unwrap();
    for text in [
        "{ \"hooks\": [] }",
        "// a comment\n{}",
        "[1]",
        "{ \"hooks\": { \"PreToolUse\": {} } }",
        "{ \"id\": 18446744073709551617 }",
        "{ \"a \\\" b\": [1, -9223372036854775809] }",
    ] {
        fs::write(home.at(".claude/settings.json"), text).unwrap();
        let output = home.install("claude");
        assert!(!output.status.success(), "{text}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("nothing was changed"));
        assert_eq!(fs::read_to_string(home.at(".claude/settings.json")).unwrap(), text);
        assert!(!home.at(".config").exists());
    }
    fs::remove_file(home.at(".claude/settings.json")).unwrap();
    fs::write(home.at("policy.toml"), "[limts]\n").unwrap();
    assert!(!home.install("claude").status.success(), "it would deny everything");
    let dry = Home::new();
    let shown = dry.run(&["install", "claude", "--policy", "policy.toml", "--dry-run"]);
    succeeded(&shown);
    assert!(String::from_utf8(shown.stdout).unwrap().contains("+ PreToolUse"));
    assert!(!dry.at(".claude").exists() && !dry.at(".config").exists());
    let output = dry.run(&["install", "claude"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("--managed"));
}

#[test]
fn a_home_with_an_apostrophe_is_no_obstacle() {
    let home = Home::new();
    fs::create_dir(home.at("o'brien")).unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command.args(args).env_clear().env("HOME", home.at("o'brien")).current_dir(home.0.path());
        command.output().unwrap()
    };
    for _ in 0..2 {
        succeeded(&run(&["install", "claude", "--policy", "policy.toml"]));
    }
    let settings = home.read("o'brien/.claude/settings.json");
    assert_eq!(settings["hooks"]["PreToolUse"].as_array().unwrap().len(), 1);
    succeeded(&run(&["uninstall", "claude"]));
    assert!(!home.at("o'brien/.claude/settings.json").exists());
}

#[test]
fn settings_that_an_agent_has_elsewhere_are_not_changed_here() {
    let home = Home::new();
    let mut command = Command::new(PROGRAM);
    command.args(["install", "codex", "--policy", "policy.toml"]).current_dir(home.0.path());
    let output = command.env_clear().env("HOME", home.0.path()).env("CODEX_HOME", "/x").output();
    let output = output.unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("`CODEX_HOME` is set"));
}

#[test]
fn a_switch_that_keeps_hooks_from_running_is_said() {
    let home = Home::new();
    fs::create_dir_all(home.at(".claude")).unwrap();
    fs::write(home.at(".claude/settings.json"), "{ \"disableAllHooks\": true }").unwrap();
    let output = home.install("claude");
    assert!(String::from_utf8(output.stdout).unwrap().contains("! `disableAllHooks`"));
}

#[test]
fn the_settings_of_a_project_are_changed_where_it_is() {
    let home = Home::new();
    fs::create_dir(home.at("project")).unwrap();
    let args = ["install", "claude", "--policy", "policy.toml", "--in", "project"];
    succeeded(&home.run(&args));
    let settings = home.at("project/.claude/settings.local.json");
    assert!(settings.exists() && !home.at(".claude").exists());
    // An agent writes in its project: the script is not there.
    assert_eq!(fs::read_dir(home.at("project")).unwrap().count(), 1);
    succeeded(&home.run(&["uninstall", "claude", "--in", "project"]));
    assert!(!settings.exists());
}

#[test]
fn a_link_beside_the_settings_of_a_project_leads_nowhere() {
    let home = Home::new();
    fs::create_dir_all(home.at("project/.claude")).unwrap();
    fs::write(home.at("precious"), "work").unwrap();
    for name in ["settings.local.json.new", "settings.local.json.new-1"] {
        std::os::unix::fs::symlink(home.at("precious"), home.at("project/.claude").join(name))
            .unwrap();
    }
    succeeded(&home.run(&["install", "claude", "--policy", "policy.toml", "--in", "project"]));
    assert_eq!(fs::read_to_string(home.at("precious")).unwrap(), "work");
    assert!(home.at("project/.claude/settings.local.json").is_file());
}

#[test]
fn a_hook_that_names_the_script_of_the_guard_stays() {
    let home = Home::new();
    succeeded(&home.install("claude"));
    let script = home.at(".config/hooks-agent/claude.sh");
    let mut settings = home.read(".claude/settings.json");
    let own = json!({ "hooks": [{ "type": "command", "command": format!("sha256sum '{}'", script.display()) }] });
    settings["hooks"]["PreToolUse"].as_array_mut().unwrap().push(own.clone());
    settings["big"] = json!(u64::MAX);
    fs::write(home.at(".claude/settings.json"), settings.to_string()).unwrap();
    succeeded(&home.run(&["uninstall", "claude"]));
    let left = json!({ "hooks": { "PreToolUse": [own] }, "big": u64::MAX });
    assert_eq!(home.read(".claude/settings.json"), left);
}

#[test]
fn the_environment_of_an_agent_does_not_choose_the_state() {
    let home = Home::new();
    succeeded(&home.run(&["install", "claude", "--policy", "policy.toml"]));
    let script = fs::read_to_string(home.at(".config/hooks-agent/claude.sh")).unwrap();
    let state = home.at(".local/state/hooks-agent/threads.db");
    assert!(script.contains(&format!("'--state' '{}'", state.display())), "{script}");
}

#[test]
fn a_reader_that_leaves_ends_the_program() {
    let home = Home::new();
    let line = format!("'{PROGRAM}' check --agent claude | head -1");
    let output = Command::new("sh").args(["-c", &line]).current_dir(home.0.path()).output();
    assert_eq!(String::from_utf8(output.unwrap().stderr).unwrap(), "");
}
