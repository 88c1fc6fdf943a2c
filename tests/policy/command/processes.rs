//! Processes of commands: their start, their pipes and their end.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Probe, Seen, SeenFlow};
use hooks_agent_policy::command::{CommandEntry, CommandHooks};
use hooks_fixtures::tell;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::agents::{assert_has, before_tools, dir, hooks};
use crate::group::Group;

fn tool_call(path: &str) -> ToolUse {
    ToolUse::new("1", "write_file", json!({ "path": path }))
}

/// Returns why the tool call was refused.
fn reason(seen: &Seen<ToolUse>) -> String {
    match &seen.flow {
        SeenFlow::AnsweredTool(result) if result.is_error => result.output.to_string(),
        flow => panic!("it {flow}"),
    }
}

/// Returns what a line of shell wrote to standard error before it refused.
async fn output_of(entry: CommandEntry) -> String {
    let seen = Probe::new(hooks([entry])).pre_acting(tool_call("a.txt")).await.unwrap();
    reason(&seen)
}

/// CH-12.
#[tokio::test]
async fn a_command_that_never_reads_its_input_decides() {
    for line in ["exit 0", "sleep 0.2", "exec <&-; sleep 0.2"] {
        let probe = Probe::new(hooks([before_tools(line)]));
        let seen = probe.pre_acting(tool_call(&"a".repeat(1 << 20))).await.unwrap();
        seen.assert_continues();
    }
}

#[tokio::test]
async fn a_large_input_and_a_large_output_do_not_block_each_other() {
    let line = "head -c 100000 /dev/zero | tr '\\0' x; cat > /dev/null; exit 2";
    let probe = Probe::new(hooks([before_tools(line)]));
    let seen = probe.pre_acting(tool_call(&"a".repeat(1 << 20))).await.unwrap();
    seen.assert_refused("guard");
}

/// CH-13.
#[tokio::test]
async fn a_grandchild_that_holds_the_pipes_is_not_waited_for() {
    let group = Group::new();
    let start = Instant::now();
    let line = format!("{}sleep 60 & exit 0", group.joins);
    let entry = before_tools(&line).timeout(Duration::from_secs(1));
    let seen = Probe::new(hooks([entry])).pre_acting(tool_call("a.txt")).await.unwrap();
    seen.assert_continues();
    assert!(start.elapsed() < Duration::from_secs(3));
    group.assert_ends().await;
}

#[tokio::test]
async fn a_grandchild_that_closed_the_pipes_ends_with_its_command() {
    let group = Group::new();
    let line = format!("{}sleep 60 >/dev/null 2>&1 </dev/null & exit 0", group.joins);
    let seen = Probe::new(hooks([before_tools(&line)])).pre_acting(tool_call("a")).await.unwrap();
    seen.assert_continues();
    group.assert_ends().await;
}

#[tokio::test]
async fn dropping_a_call_ends_its_commands() {
    let mut group = Group::new();
    let probe = Probe::new(hooks([before_tools(&format!("{}sleep 60", group.joins))]));
    let call = tokio::spawn(async move { probe.pre_acting(tool_call("a.txt")).await });
    group.started().await;
    call.abort();
    group.assert_ends().await;
}

#[test]
fn a_runtime_that_ends_kills_its_commands() {
    let mut group = Group::new();
    let line = format!("trap '' TERM; {}sleep 60", group.joins);
    let runtime = Runtime::new().unwrap();
    runtime.spawn(async move {
        Probe::new(hooks([before_tools(&line)])).pre_acting(tool_call("a.txt")).await
    });
    runtime.block_on(group.started());
    drop(runtime);
    Runtime::new().unwrap().block_on(group.assert_ends());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_calls_at_once_have_their_own_pipes() {
    let hooks = hooks([before_tools("sleep 0.1; cat >&2; exit 2")]);
    let see = |number: u32| {
        let hooks = hooks.clone();
        async move {
            let probe = Probe::new(hooks).thread(format!("thread-{number}"));
            reason(&probe.pre_acting(tool_call(&format!("{number}.txt"))).await.unwrap())
        }
    };
    for (number, input) in join_all((0..8).map(see)).await.iter().enumerate() {
        let input: serde_json::Value = serde_json::from_str(input).unwrap();
        assert_eq!(input["tool_input"]["path"], format!("{number}.txt"));
        assert_eq!(input["session_id"], format!("thread-{number}"));
    }
}

#[tokio::test]
async fn the_environment_is_that_of_the_list() {
    let list = |entry: CommandEntry| async {
        let text = output_of(entry.named("guard")).await;
        let names = text.lines().filter_map(|line| Some(line.split_once('=')?.0.to_owned()));
        (names.collect::<Vec<_>>(), text)
    };
    let env = || CommandEntry::exec("PreToolUse", ["sh", "-c", "env >&2; exit 2"]);
    // Cargo runs this test with more than ten variables of its own.
    let (names, text) = list(env()).await;
    assert!(!text.contains("CARGO"), "{text}");
    let known = |name: &String| {
        let known = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TZ", "TMPDIR"];
        let beginnings = ["LC_", "XDG_", "SSL_CERT_", "UV_"];
        let ends = ["_proxy", "_PROXY", "_CA_BUNDLE", "_CA_CERTS", "_CAINFO"];
        known.contains(&name.as_str())
            || beginnings.iter().any(|it| name.starts_with(it))
            || ends.iter().any(|it| name.ends_with(it))
            || ["CLAUDE_PROJECT_DIR", "HOOKS_PROJECT_DIR", "PWD", "OLDPWD", "SHLVL", "_"]
                .contains(&name.as_str())
    };
    assert!(names.iter().all(known), "{names:?}");
    assert_has(&text, &format!("HOOKS_PROJECT_DIR={}", dir()));
    let (_, text) = list(env().env("MODE", "strict").pass_env("CARGO_MANIFEST_DIR")).await;
    assert_has(&text, "MODE=strict");
    assert_has(&text, "CARGO_MANIFEST_DIR=");
}

const LISTS: &str = "HOOKS_COMMAND_LISTS";

#[test]
fn programs_find_their_files_and_the_network_and_no_keys() {
    let passed = [
        ("SSL_CERT_FILE", "/certs.pem"),
        ("HTTPS_PROXY", "http://proxy"),
        ("no_proxy", "localhost"),
        ("XDG_CACHE_HOME", "/cache"),
        ("UV_CACHE_DIR", "/uv"),
        ("LC_ALL", "C"),
        ("HOME", "/nowhere"),
    ];
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::list", "--nocapture"])
        .envs(passed)
        .envs([(LISTS, "1"), ("UV_INDEX_PASSWORD", "hunter2"), ("MODEL_API_KEY", "hunter2")])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout);
    for (name, value) in passed {
        assert_has(&text, &format!("{name}={value}"));
    }
    assert!(!text.contains("hunter2"), "{text}");
}

/// Prints the environment of a command, in a process of its own; else nothing.
#[tokio::test]
async fn list() {
    if std::env::var_os(LISTS).is_some() {
        println!("{}", output_of(before_tools("env >&2; exit 2")).await);
    }
}

#[tokio::test]
async fn what_a_child_writes_after_its_command_ended_is_read() {
    let output = output_of(before_tools("(sleep 0.2; echo late >&2) & exit 2")).await;
    assert_eq!(output, "late");
}

#[tokio::test]
async fn what_the_model_wrote_is_on_standard_input_alone() {
    if !fs::exists("/proc/self/cmdline").unwrap_or(false) {
        tell("skipped: there is no /proc");
        return;
    }
    let line = "tr '\\0' '\\n' < /proc/$$/cmdline >&2; env >&2; exit 2";
    let probe = Probe::new(hooks([before_tools(line)]));
    let seen = probe.pre_acting(tool_call("$(touch /tmp/model-text)")).await.unwrap();
    let text = reason(&seen);
    assert_has(&text, "/proc/$$/cmdline");
    assert!(!text.contains("model-text"), "{text}");
}

#[tokio::test]
async fn a_relative_program_is_one_of_the_project_and_runs_there() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("guards")).unwrap();
    fs::write(folder.path().join("guards/check"), "pwd >&2; exit 2\n").unwrap();
    let entry = CommandEntry::exec("PreToolUse", ["sh", "guards/check"]);
    let hooks = CommandHooks::builder(folder.path()).entry(entry).open().unwrap();
    let seen = Probe::new(hooks).pre_acting(tool_call("a.txt")).await.unwrap();
    let dir = folder.path().canonicalize().unwrap();
    assert_eq!(reason(&seen), dir.to_str().unwrap());
}

#[tokio::test]
async fn the_input_is_one_object_and_the_end_of_the_file() {
    let seen = Probe::new(hooks([before_tools("cat >&2; exit 2")]))
        .agent("assistant")
        .thread("ada")
        .pre_acting(tool_call("a.txt"))
        .await
        .unwrap();
    let input: serde_json::Value = serde_json::from_str(&reason(&seen)).unwrap();
    let run = input["prompt_id"].as_str().unwrap().to_owned();
    assert_eq!(
        input,
        json!({
            "hook_event_name": "PreToolUse", "session_id": "ada", "prompt_id": run,
            "transcript_path": null, "cwd": dir(), "permission_mode": "default",
            "tool_name": "write_file", "tool_input": { "path": "a.txt" }, "tool_use_id": "1",
            "hooks": { "run_id": run, "parent_run_id": null, "agent_name": "assistant",
                "event": "PRE_ACTING" },
        })
    );
}

/// Writes a script, and returns hooks that run it by this program; none, if it is not installed.
fn script(program: &str, text: &str) -> Option<(tempfile::TempDir, CommandHooks)> {
    let is_there = std::process::Command::new(program).arg("--version").output().is_ok();
    if !is_there {
        tell(format!("skipped: `{program}` is not installed"));
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("guard"), text).unwrap();
    let entry = CommandEntry::exec("PreToolUse", [program, "guard"]).matcher("write_file");
    let hooks = CommandHooks::builder(folder.path()).entry(entry).open().unwrap();
    Some((folder, hooks))
}

/// Asserts that a guard refuses paths outside of `src`, and rewrites `old.txt`.
async fn assert_guards(hooks: CommandHooks) {
    let probe = Probe::new(hooks);
    let see = async |path: &str| probe.pre_acting(tool_call(path)).await.unwrap();
    see("/etc/passwd").await.assert_refused("only src").assert_unchanged();
    see("src/a.txt").await.assert_continues().assert_unchanged();
    let seen = see("src/old.txt").await;
    assert_eq!(seen.event.input["path"], "src/new.txt");
}

#[tokio::test]
async fn a_guard_in_python() {
    let text = r#"
import json, sys
call = json.load(sys.stdin)
path = call["tool_input"]["path"]
if not path.startswith("src/"):
    print("only src", file=sys.stderr)
    sys.exit(2)
if path == "src/old.txt":
    specific = {"hookEventName": "PreToolUse", "updatedInput": {"path": "src/new.txt"}}
    print(json.dumps({"hookSpecificOutput": specific}))
"#;
    if let Some((_folder, hooks)) = script("python3", text) {
        assert_guards(hooks).await;
    }
}

#[tokio::test]
async fn a_guard_in_node() {
    let text = r#"
const call = JSON.parse(require("fs").readFileSync(0, "utf8"));
const path = call.tool_input.path;
const specific = { hookEventName: "PreToolUse" };
if (!path.startsWith("src/")) {
    specific.permissionDecision = "deny";
    specific.permissionDecisionReason = "only src";
} else if (path === "src/old.txt") {
    specific.updatedInput = { path: "src/new.txt" };
}
console.log(JSON.stringify({ hookSpecificOutput: specific }));
"#;
    if let Some((_folder, hooks)) = script("node", text) {
        assert_guards(hooks).await;
    }
}

/// TH-10.
#[tokio::test]
async fn a_probe_of_a_script_has_the_asserts_of_a_hook_in_rust() {
    let text = "grep -q '\"path\":\"src/' && exit 0; echo 'only src' >&2; exit 2\n";
    let (_folder, hooks) = script("sh", text).unwrap();
    let probe = Probe::new(Arc::new(hooks)).thread("t");
    let see = async |path: &str| probe.pre_acting(tool_call(path)).await.unwrap();
    see("/etc/passwd").await.assert_refused("only src").assert_unchanged();
    see("src/a.txt").await.assert_continues().assert_unchanged();
    assert!(probe.pre_reasoning(vec![Msg::user("hi")]).await.is_err());
}
