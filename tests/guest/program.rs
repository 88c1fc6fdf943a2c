//! The program `hooks-agent`, run as coding agents and people run it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_hooks-agent-tested");

const POLICY: &str = r#"
version = 1

[[hook]]
use = "pii_detection"
with = { kinds = ["email"], tool_results = true }

[[hook]]
use = "human_in_the_loop"
with = { tools = ["mcp__bank__pay"] }

[[hook]]
use = "tool_call_limit"
with = { thread = 3 }

[limits]
deny_tools = ["Bash"]
"#;

/// The answer to what passes.
pub(crate) const NOTHING: &str = "{}\n";

/// A folder with a policy and the file of threads.
struct Project(TempDir);

impl Project {
    fn new(policy: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("policy.toml"), policy).unwrap();
        Self(folder)
    }

    fn policy(&self) -> PathBuf {
        self.0.path().join("policy.toml")
    }

    fn guard(&self, input: &str) -> Output {
        run(&["guard", "--policy", path(&self.policy()), "--state", path(&self.state())], input)
    }

    fn state(&self) -> PathBuf {
        self.0.path().join("threads.db")
    }
}

/// What a guard with this policy answers.
pub(crate) fn guarded(policy: &str, event: &str) -> Output {
    Project::new(policy).guard(event)
}

/// What a guard with a managed policy and one of the project answers.
pub(crate) fn guarded_by(managed: &str, project: &str, event: &str) -> Output {
    let folder = Project::new(&format!("version = 1\n{project}"));
    let file = folder.0.path().join("managed.toml");
    std::fs::write(&file, format!("version = 1\n{managed}")).unwrap();
    let (policy, state) = (folder.policy(), folder.state());
    let args = ["guard", "--policy", path(&policy), "--state", path(&state), "--managed"];
    run(&[&args[..], &[path(&file)]].concat(), event)
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

pub(crate) fn run(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(PROGRAM)
        .args(args)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn tool_use(tool: &str) -> String {
    json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": tool, "tool_input": {} })
        .to_string()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_decision_is_json_on_standard_output() {
    let project = Project::new(POLICY);
    let output = project.guard(&tool_use("mcp__bank__pay"));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask");

    let answer: Value = serde_json::from_slice(&project.guard(&tool_use("Bash")).stdout).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");

    let nothing = project.guard(&tool_use("Read"));
    assert_eq!((nothing.status.code(), text(&nothing.stdout)), (Some(0), NOTHING.to_owned()));
}

#[test]
fn a_guard_in_shadow_blocks_nothing_and_says_what_it_would_have_done() {
    let project = Project::new(POLICY);
    let (policy, state) = (project.policy(), project.state());
    let guard = |event: &str| {
        run(&["guard", "--shadow", "--policy", path(&policy), "--state", path(&state)], event)
    };
    let denied = guard(&tool_use("Bash"));
    assert_eq!((denied.status.code(), text(&denied.stdout)), (Some(0), NOTHING.to_owned()));
    let stderr = text(&denied.stderr);
    assert!(stderr.contains("in shadow: policy limits in shadow: "), "{stderr}");
    assert!(stderr.contains("1 would have refused"), "{stderr}");
    let asked = guard(&tool_use("mcp__bank__pay"));
    assert_eq!((asked.status.code(), text(&asked.stdout)), (Some(0), NOTHING.to_owned()));
    assert!(
        text(&asked.stderr).contains("in shadow: human_in_the_loop: "),
        "{}",
        text(&asked.stderr)
    );
    assert_eq!(text(&guard(&tool_use("Read")).stderr), "");
}

#[test]
fn counts_hold_over_processes_that_run_at_once() {
    let project = Project::new(POLICY);
    let passed = std::thread::scope(|scope| {
        let guards: Vec<_> = (0..8)
            .map(|id| {
                let project = &project;
                scope.spawn(move || {
                    let mut input: Value = serde_json::from_str(&tool_use("Read")).unwrap();
                    input["tool_use_id"] = json!(id.to_string());
                    let output = project.guard(&input.to_string());
                    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
                    text(&output.stdout) == NOTHING
                })
            })
            .collect();
        guards.into_iter().map(|guard| guard.join().unwrap()).filter(|passed| *passed).count()
    });
    assert_eq!(passed, 3);
}

#[test]
fn a_sub_agent_with_a_session_of_its_own_does_not_escape_a_limit() {
    let project =
        Project::new("version = 1\n[[hook]]\nuse = \"tool_call_limit\"\nwith = { thread = 2 }\n");
    let call = |session: &str, parent: Value| {
        let event = json!({
            "sessionId": session, "timestamp": 1, "cwd": "/p", "toolName": "bash",
            "toolArgs": { "command": "ls" }, "parentAgentId": parent,
        });
        let answer: Value =
            serde_json::from_slice(&project.guard(&event.to_string()).stdout).unwrap();
        answer["permissionDecision"].clone()
    };
    assert_eq!(call("above", json!(null)), json!(null));
    assert_eq!(call("below", json!("above")), json!(null));
    assert_eq!(call("lowest", json!("below")), "deny");
    assert_eq!(call("above", json!(null)), "deny");
    assert_eq!(call("another", json!(null)), json!(null));
}

#[test]
fn a_guard_that_takes_too_long_denies_before_its_agent_goes_on() {
    let args = ["guard", "--agent", "codex", "--event", "PreToolUse", "--deadline", "1"];
    let mut child = Command::new(PROGRAM)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The event never comes.
    let never = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(never);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("longer than 1 seconds"));
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_blocks_by_the_exit_code() {
    let project = Project::new("version = 1\n");
    let (policy, state) = (project.policy(), project.state());
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut child = Command::new(PROGRAM)
        .args(["guard", "--policy", path(&policy), "--state", path(&state)])
        .stdin(Stdio::piped())
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(tool_use("Read").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!output.stderr.is_empty());
}

#[test]
fn what_cannot_be_decided_is_blocked() {
    let project = Project::new(POLICY);
    let blocked = |output: Output, expected: &str| {
        let stderr = text(&output.stderr);
        assert!(stderr.contains(expected), "{stderr}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
        // An exit code blocks an event of nobody knows whom.
        assert!(output.status.success() || answer["cancel"] == true);
    };
    let unread = "the event cannot be read, at line 1, column";
    blocked(project.guard("no json hunter2"), unread);
    assert!(!text(&project.guard("no json hunter2").stderr).contains("hunter2"));
    blocked(project.guard("{}"), "`hook_event_name`");
    blocked(project.guard(&tool_use("Read").replace("\"s\"", "\"\"")), "`session_id`");
    let misspelt = tool_use("mcp__bank__pay").replace("PreToolUse", "PreTooluse");
    let misspelt = project.guard(&misspelt);
    assert_eq!(misspelt.status.code(), Some(2));
    assert!(text(&misspelt.stderr).contains("did you mean `PreToolUse`?"));
    blocked(project.guard(""), unread);
    blocked(run(&["guard"], &tool_use("Read")), "write `hooks-agent guard --policy");
    blocked(run(&["guard", "--polcy", "p"], &tool_use("Read")), "--policy");
    blocked(run(&["guard", "--policy", "/no/policy.toml"], &tool_use("Read")), "/no/policy.toml");
    let file = project.policy();
    let no_state = ["guard", "--policy", path(&file), "--state", "/dev/null/threads.db"];
    blocked(run(&no_state, &tool_use("Read")), "the file of the threads cannot be used");
    let nowhere = ["guard", "--policy", path(&file)];
    blocked(run(&nowhere, &tool_use("Read")), "`--state threads.db`");

    std::fs::write(&file, POLICY.replace("kinds", "kindz")).unwrap();
    blocked(project.guard(&tool_use("Read")), "`kindz`");
}

#[test]
fn a_result_that_cannot_be_decided_is_withheld() {
    let project = Project::new(&POLICY.replace("kinds", "kindz"));
    let event = json!({
        "hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Read",
        "tool_input": {}, "tool_response": "hunter2",
    });
    let output = project.guard(&event.to_string());
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("`kindz`"));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["decision"], "block");
    let left = answer["hookSpecificOutput"]["updatedToolOutput"].as_str().unwrap();
    assert_eq!(left, "[withheld: the guard could not check the result]");
}

#[test]
fn limits_that_a_guard_cannot_hold_are_refused_for_its_agents() {
    let rate = |agents: &str| {
        let policy = format!(
            "version = 1\n[[hook]]\nuse = \"rate_limit\"\n{agents}\n\
             with = {{ of = \"tools\", requests = {{ count = 1, per = \"1m\" }} }}\n"
        );
        Project::new(&policy).guard(&tool_use("Read"))
    };
    let refused = rate("");
    assert!(text(&refused.stdout).contains("deny"), "{}", text(&refused.stdout));
    assert!(text(&refused.stderr).contains("`rate_limit`"), "{}", text(&refused.stderr));
    let of_others = rate("agents = [\"support-*\"]");
    assert_eq!(text(&of_others.stdout), NOTHING, "{}", text(&of_others.stderr));
}

#[test]
fn check_prints_what_holds_or_every_error() {
    let project = Project::new(POLICY);
    let output = run(&["check", path(&project.policy())], "");
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0));
    for part in ["pii_detection", "project", "policy.toml:4", "tool_call_limit", "Bash"] {
        assert!(printed.contains(part), "{part} is not in {printed}");
    }

    std::fs::write(project.policy(), "version = 1\n[[hook]]\nuze = 1\n[limts]\n").unwrap();
    let output = run(&["check", path(&project.policy())], "");
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(errors.contains("`uze`") && errors.contains("`limts`"), "{errors}");
    assert_eq!(run(&["check"], "").status.code(), Some(2));
}

#[test]
fn what_was_trusted_is_printed_and_trusted() {
    let project =
        Project::new("version = 1\n[[command]]\nevent = \"PreToolUse\"\nexec = [\"true\"]\n");
    let trusted = project.0.path().join("trust.json");
    let file = project.policy();
    let check = || run(&["check", path(&file), "--trust", path(&trusted)], "");
    let errors = text(&check().stderr);
    let start = errors.find("hooks-agent trust ").expect("the error says what to run");
    let hash = errors[start..].split_whitespace().nth(2).unwrap().to_owned();
    assert!(errors.contains(&format!("Trust::add(\"{hash}\")")), "{errors}");

    let output = run(&["trust", &hash, "--file", path(&trusted)], "");
    assert_eq!(text(&output.stdout), format!("trusted in {}: {hash}\n", trusted.display()));
    assert_eq!(check().status.code(), Some(0));
}

#[test]
fn the_schema_is_json() {
    let schema: Value = serde_json::from_slice(&run(&["schema"], "").stdout).unwrap();
    assert!(schema["properties"]["hook"].is_object(), "{schema}");
}

#[test]
fn the_time_of_a_guard_is_printed() {
    let project = Project::new(POLICY);
    let mut times: Vec<_> = (0..20)
        .map(|_| {
            let start = Instant::now();
            project.guard(&tool_use("Write"));
            start.elapsed()
        })
        .collect();
    times.sort();
    println!("a guard, cold: {:?} at best, {:?} in the middle", times[0], times[10]);
}

#[test]
fn a_score_says_what_was_found_missed_and_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    let lines = file(
        "set.jsonl",
        concat!(
            "{\"text\": \"é ana@b.org and bob\", \"spans\": [[2, 11, \"EMAIL_ADDRESS\"], [16, 19, \"PERSON\"]], \"language\": \"en\"}\n",
            "\n",
            "{\"text\": \"mail c@d.org\", \"spans\": [], \"language\": \"de\"}\n",
            "{\"text\": \"tel 612 345 678\", \"spans\": [[4, 15, \"phone\"]], \"region\": \"ES\"}\n",
            "{\"text\": \"no 12\", \"spans\": [[3, 5, \"iban\"]]}\n",
        ),
    );
    let output = run(&["score", "--pii", path(&lines)], "");
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let row = |name: &str| {
        let line = shown.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().skip(1).take(6).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("email"), ["1", "1", "1", "1", "2", "1"], "{shown}");
    assert_eq!(row("phone"), ["1", "1", "1", "1", "1", "0"], "{shown}");
    assert_eq!(row("iban"), ["1", "0", "0", "0", "0", "0"], "{shown}");
    for part in
        ["not looked for: person 1", "missed:", "iban: \"12\"", "set.jsonl:3", "4 texts, 1 with"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }

    let presidio = file(
        "set.json",
        r#"[{"full_text": "ana@b.org", "spans": [{"entity_type": "EMAIL_ADDRESS", "start_position": 0, "end_position": 9}]}]"#,
    );
    assert!(text(&run(&["score", "--pii", path(&presidio)], "").stdout).contains("100.0 %"));
    let secrets = file(
        "secrets.jsonl",
        r#"{"text": "k=glpat-in51j7rfpgxixxlpzahi", "spans": [[2, 28, "any"]]}"#,
    );
    let shown = text(&run(&["score", "--secrets", path(&secrets)], "").stdout);
    assert!(shown.contains("gitlab_pat") && shown.contains("100.0 %"), "{shown}");
}

#[test]
fn a_set_that_is_wrong_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    for (content, said) in [
        ("{\"text\": \"a\"}", "spans"),
        ("{\"text\": \"a\", \"spans\": [[0, 9, \"email\"]]}", "ends behind the 1 characters"),
        ("{\"text\": \"a\", \"spans\": [[1, 1, \"email\"]]}", "is empty"),
        ("{\"text\": \"a\", \"spans\": [], \"region\": \"XX\"}", "no region `XX`"),
        ("[1]", "expected an array of texts"),
    ] {
        let path_of = folder.path().join("set.jsonl");
        std::fs::write(&path_of, content).unwrap();
        let output = run(&["score", "--pii", path(&path_of)], "");
        assert_eq!(output.status.code(), Some(2), "{content}");
        assert!(text(&output.stderr).contains(said), "{content}: {}", text(&output.stderr));
    }
    let output = run(&["score", "--pii", "--kinds", "mail", "no such file"], "");
    assert!(text(&output.stderr).contains("no kind `mail`"), "{}", text(&output.stderr));
    assert_eq!(run(&["score", "x.jsonl"], "").status.code(), Some(2));
}
