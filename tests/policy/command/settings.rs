//! The `settings.json` of coding agents.

use std::fs;

use hooks_agent_core::message::ToolUse;
use hooks_agent_core::testing::{Probe, SeenFlow};
use hooks_agent_core::tool::Permission;
use hooks_agent_policy::command::{CommandHooks, CommandHooksError, Layer};
use serde_json::json;
use tempfile::TempDir;
use tracing::Level;

use crate::agents::{Log, Trial, assert_has, dir};

fn open(folder: &TempDir, text: &str, layer: Layer) -> Result<CommandHooks, CommandHooksError> {
    let path = folder.path().join("settings.json");
    fs::write(&path, text).unwrap();
    CommandHooks::builder(dir()).settings(path, layer).open()
}

const SETTINGS: &str = r#"{
  "permissions": { "allow": ["Bash"] },
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "write_.*",
        "hooks": [
          { "type": "command", "command": "echo first >&2; exit 2", "timeout": 5 },
          { "type": "command", "command": "sh", "args": ["-c", "echo second >&2; exit 2"],
            "onFailure": "block", "statusMessage": "checks" }
        ]
      }
    ],
    "PostToolUse": [{ "matcher": "other", "hooks": [{ "type": "command", "command": "exit 1" }] }]
  }
}"#;

#[tokio::test]
async fn settings_of_a_coding_agent_run() {
    let folder = tempfile::tempdir().unwrap();
    let hooks = open(&folder, SETTINGS, Layer::User).unwrap();
    let trial = Trial::of(hooks, Permission::Allow).await;
    assert_eq!(trial.result().output, "first\n\nsecond");
}

#[tokio::test]
async fn on_failure_of_a_handler_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{"hooks":{"PreToolUse":[{"hooks":[
        {"type":"command","command":"exit 1","onFailure":"block"}]}]}}"#;
    let log = Log::up_to(Level::WARN);
    let hooks = open(&folder, text, Layer::User).unwrap();
    assert_eq!(log.take(), "");
    let trial = Trial::of(hooks, Permission::Allow).await;
    assert!(trial.ran.is_empty());
}

#[test]
fn problems_have_their_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{
  "hooks": {
    "PreToolUse": [
      { "matcher": "a(", "hooks": [{ "type": "command", "command": "x", "onFailure": "block" }] },
      { "matcher": 1, "hooks": [] },
      { "hooks": [
        { "type": "agent", "prompt": "é", "command": "x" },
        { "type": "command", "timeout": "5", "command": "x" },
        { "type": "command" },
        7
      ] }
    ],
    "Stop": {}
  }
}"#;
    let error = open(&folder, text, Layer::User).unwrap_err().to_string();
    for expected in [
        "settings.json:4:20: `matcher`: invalid regular expression at character 2",
        "settings.json:5:20: `matcher`: expected a text",
        "settings.json:7:19: `type`: expected `command`",
        "settings.json:8:41: `timeout`: expected a number of seconds",
        "settings.json:9:9: `command`: expected a text",
        "settings.json:10:9: `hooks`: expected an object",
        "settings.json:13:13: `hooks`: expected a list of groups",
    ] {
        assert_has(&error, expected);
    }
}

#[test]
fn a_file_that_is_no_json_or_is_not_there_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let error = open(&folder, "{\n  \"hooks\": {,\n}", Layer::User).unwrap_err().to_string();
    assert_has(&error, "settings.json:2:13: `settings`: expected JSON: key must be a string");
    let builder = CommandHooks::builder(dir()).settings("/no/such/settings.json", Layer::User);
    assert_has(&builder.open().unwrap_err().to_string(), "cannot be read");
}

#[test]
fn guards_that_would_let_a_call_pass_are_named_once_each() {
    let folder = tempfile::tempdir().unwrap();
    let handler = r#"[{"hooks":[{"type":"command","command":"check"}]}]"#;
    let text = format!(
        r#"{{"hooks":{{"PreToolUse":{handler},"PermissionRequest":{handler},
        "UserPromptSubmit":{handler},"PostToolUse":{handler},"Elicitation":{handler}}}}}"#
    );
    let log = Log::up_to(Level::WARN);
    assert!(open(&folder, &text, Layer::User).is_ok());
    let log = log.take();
    assert_eq!(log.matches("lets the call go on if it fails").count(), 3, "{log}");
    assert_has(&log, "`Elicitation` never occurs here");
}

#[test]
fn what_a_command_of_a_file_does_not_get_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("loop.sh"), "f=$(jq -r .transcript_path)").unwrap();
    let script = folder.path().join("loop.sh");
    let script = script.display();
    let text = format!(
        r#"{{"hooks":{{"Stop":[{{"hooks":[
        {{"type":"command","command":"bash {script}"}},
        {{"type":"command","command":"jq -r .transcript_path"}},
        {{"type":"command","command":"test -n \"$CARGO_MANIFEST_DIR\" || test -n \"$HOME$NO_SUCH_ONE\""}}]}}]}}}}"#
    );
    let log = Log::up_to(Level::WARN);
    assert!(open(&folder, &text, Layer::User).is_ok());
    let log = log.take();
    assert_eq!(log.matches("reads `transcript_path`, which is `null` here").count(), 2, "{log}");
    assert_has(&log, "`$CARGO_MANIFEST_DIR` is not passed on, it is empty for the command");
    assert!(!log.contains("HOME` ") && !log.contains("NO_SUCH_ONE"), "{log}");
}

#[test]
fn ignored_keys_and_disabled_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{"hooks":{"PostToolUse":[{"hooks":[
        {"type":"command","command":"x","async":true}]}]}}"#;
    let log = Log::up_to(Level::WARN);
    assert!(open(&folder, text, Layer::User).is_ok());
    assert_has(&log.take(), "`async` is ignored");
    let text = text.replacen('{', "{\"disableAllHooks\": true, ", 1);
    assert!(open(&folder, &text, Layer::Project).is_ok());
    assert_has(&log.take(), "the hooks of this file are disabled");
}

#[test]
fn settings_of_a_project_need_trust() {
    let folder = tempfile::tempdir().unwrap();
    let error = open(&folder, SETTINGS, Layer::Project).unwrap_err();
    assert_eq!(error.untrusted().count(), 3);
    assert_has(&error.to_string(), "settings.json:8:11: `trust`");
}

#[tokio::test]
async fn a_managed_file_may_leave_out_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let managed = folder.path().join("managed.json");
    fs::write(&managed, r#"{"allowManagedHooksOnly": true}"#).unwrap();
    let user = folder.path().join("user.json");
    fs::write(&user, SETTINGS).unwrap();
    let builder = CommandHooks::builder(dir()).settings(user, Layer::User);
    let hooks = builder.settings(managed, Layer::Managed).open().unwrap();
    let trial = Trial::of(hooks, Permission::Allow).await;
    assert_eq!(trial.result().output, "written");
}

#[tokio::test]
async fn a_condition_by_a_beginning_is_read_as_coding_agents_mean_it() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{"hooks":{"PreToolUse":[{"hooks":[
        {"type":"command","command":"exit 2","if":"Bash(rm:*)","onFailure":"block"}]}]}}"#;
    let probe = Probe::new(open(&folder, text, Layer::User).unwrap());
    for (command, is_refused) in [("rm -rf build", true), ("ls build", false)] {
        let call = ToolUse::new("1", "Bash", json!({ "command": command }));
        let seen = probe.pre_acting(call).await.unwrap();
        assert_eq!(seen.flow == SeenFlow::Continue, !is_refused, "{command}");
    }
}
