//! Fields of a settings file besides its handlers: honoured, or named when it is opened.

use std::fs;
use std::path::Path;

use hooks_agent_core::message::ToolUse;
use hooks_agent_core::testing::{Probe, SeenFlow};
use hooks_agent_policy::command::{
    CommandEntry, CommandHooks, CommandHooksError, Layer, SettingsFile,
};
use serde_json::json;
use tracing::Level;

use crate::agents::{Log, assert_has, before_tools, dir, hooks};

fn open(text: &str) -> Result<CommandHooks, CommandHooksError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    fs::write(&path, text).unwrap();
    CommandHooks::builder(dir()).settings(path, Layer::User).open()
}

/// A file with one handler of `PreToolUse` that blocks on failure.
fn file(more: &str, matcher: &str, command: &str) -> String {
    let command = json!(command);
    format!(
        r#"{{{more}"hooks":{{"PreToolUse":[{{"matcher":"{matcher}","hooks":[
        {{"type":"command","command":{command},"onFailure":"block"}}]}}]}}}}"#
    )
}

/// What opening a file warns about.
fn warnings(text: &str) -> String {
    let log = Log::up_to(Level::WARN);
    drop(open(text).unwrap());
    log.take()
}

/// Why hooks refuse a tool call.
async fn reason(hooks: CommandHooks) -> String {
    let probe = Probe::new(hooks);
    let seen = probe.pre_acting(ToolUse::new("1", "Bash", json!({}))).await.unwrap();
    match &seen.flow {
        SeenFlow::AnsweredTool(result) => result.output.to_string(),
        flow => panic!("it {flow}"),
    }
}

#[tokio::test]
async fn variables_of_a_file_reach_its_commands() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    let command = json!("echo $A $B $C $CARGO_MANIFEST_DIR >&2; exit 2");
    let text = format!(
        r#"{{"env":{{"A":"file","B":"file","C":"file"}},"hooks":{{"PreToolUse":[{{"hooks":[
        {{"type":"command","command":{command},"env":{{"C":"handler"}}}}]}}]}}}}"#
    );
    fs::write(&path, text).unwrap();
    let file = SettingsFile::at(&path).env("B", "program").env("C", "program");
    let file = file.pass_env("CARGO_MANIFEST_DIR");
    let hooks = CommandHooks::builder(dir()).settings(file, Layer::User).open().unwrap();
    assert_eq!(reason(hooks).await, format!("file program handler {}", dir()));
}

#[tokio::test]
async fn a_plug_in_knows_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hooks/hooks.json");
    fs::create_dir(folder.path().join("hooks")).unwrap();
    fs::write(folder.path().join("check.sh"), "echo checked >&2; exit 2").unwrap();
    fs::write(&path, file("", "Bash", "sh \"${CLAUDE_PLUGIN_ROOT}/check.sh\"")).unwrap();
    let log = Log::up_to(Level::WARN);
    let hooks = CommandHooks::builder(dir()).settings(&path, Layer::User).open().unwrap();
    assert_eq!(log.take(), "");
    assert_eq!(reason(hooks).await, "checked");
}

#[test]
fn variables_and_programs_that_are_not_there_are_named() {
    let text = warnings(&file("", "Bash", "${CLAUDE_PLUGIN_ROOT}/check.sh"));
    assert_has(&text, "settings.json:2:");
    assert_has(&text, "`$CLAUDE_PLUGIN_ROOT` is not set here");
    let text = warnings(&file("", "Bash", "cd x && sh \"$CLAUDE_PROJECT_DIR\"/no/such.sh --a"));
    assert_has(&text, "/no/such.sh` is not there");
    for there in [
        "F=${CLAUDE_FILE:-none}; CLAUDE_X=1; echo $CLAUDE_X $F",
        "\"$CLAUDE_PROJECT_DIR\"/Cargo.toml",
        "sh ./Cargo.toml",
        "jq -r .tool_input | grep /no/such/file",
    ] {
        assert_eq!(warnings(&file("", "Bash", there)), "", "{there}");
    }
    let log = Log::up_to(Level::WARN);
    let _ = hooks([CommandEntry::exec("PreToolUse", ["no-such-program-of-hooks"])]);
    assert_has(&log.take(), "entry 0: `no-such-program-of-hooks` is in no folder of `PATH`");
    let _ = hooks([before_tools("guards/no-such-check")]);
    assert_has(&log.take(), "`guards/no-such-check` is not there");
}

#[test]
fn what_an_agent_here_does_not_apply_is_named() {
    let more = r#""permissions":{"deny":["Bash(rm:*)"]},"model":"m","#;
    let text = warnings(&file(more, "Bash", "exit 0"));
    assert_has(&text, "settings.json:1:16: `permissions` is not applied here");
    assert_eq!(text.lines().count(), 1, "{text}");
    let at = |event: &str, matcher: &str| {
        warnings(&format!(
            r#"{{"hooks":{{"{event}":[{{"matcher":"{matcher}","hooks":[
            {{"type":"command","command":"exit 0","onFailure":"block"}}]}}]}}}}"#
        ))
    };
    assert_has(&at("SessionStart", "clear|compact"), "never occurs here at `SessionStart`");
    assert_has(&at("Notification", "idle_prompt"), "never occurs here at `Notification`");
    assert_has(&at("UserPromptSubmit", "deploy"), "is ignored at `UserPromptSubmit`");
    assert_eq!(at("SessionStart", "startup|clear"), "");
    assert_eq!(at("Stop", "*"), "");
    let once = file("", "Bash", "exit 0").replacen("\"matcher\"", "\"once\":true,\"matcher\"", 1);
    assert_has(&warnings(&once), "`once` is ignored");
    // Events of coding agents whose names are near to others are not misspelt.
    assert_has(&at("PostToolBatch", "*"), "`PostToolBatch` never occurs here");
}

#[test]
fn a_file_whose_keys_are_misspelt_is_a_problem() {
    let misspelt = |text: &str| open(text).unwrap_err().to_string();
    assert_has(&misspelt(r#"{"Hooks":{}}"#), "unknown key `Hooks`, did you mean `hooks`?");
    assert_has(&misspelt(r#"{"disableAllHook":true}"#), "did you mean `disableAllHooks`?");
    assert_has(&misspelt(r#"{"disableAllHooks":"yes"}"#), "expected `true` or `false`");
    assert_has(&misspelt(r#"{"env":{"A":1}}"#), "`env`: expected an object of texts");
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    assert_has(&misspelt(&deep), "expected at most 127 arrays and objects");
}

#[test]
fn a_matcher_of_no_tool_of_coding_agents_is_a_problem() {
    let at = |matcher: &str| open(&file("", matcher, "exit 0")).unwrap_err();
    assert_has(&at("bash|Edit").to_string(), "found `bash`, did you mean `Bash`?");
    assert_has(&at("mcp__github").to_string(), "write `mcp__github__.*`");
    let error = at("Bash(rm:*)");
    assert_eq!(error.problems().len(), 1, "{error}");
    assert_has(&error.to_string(), "settings.json:1:");
    for matcher in ["^bash$", "Bash", "my_tool", "mcp__github__create"] {
        assert!(open(&file("", matcher, "exit 0")).is_ok(), "{matcher}");
    }
}

#[test]
fn no_hash_is_shown_for_an_entry_that_has_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    fs::write(&path, file("", "Bash(rm:*)", "exit 0")).unwrap();
    let builder = CommandHooks::builder(Path::new(dir())).settings(path, Layer::Project);
    assert_eq!(builder.open().unwrap_err().untrusted().count(), 0);
}
