//! Command hooks of policy files.

use hooks_agent_core::prelude::*;
use hooks_agent_policy::command::Trust;
use hooks_agent_policy::policy::{Policy, PolicyFile};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{echo, echo_tool, go, results, script, uses};
use std::sync::Arc;

use crate::support::Folder;

fn file(content: &str) -> PolicyFile {
    PolicyFile::text("policy.toml", content)
}

fn refuses(on_failure: &str, line: &str) -> String {
    format!(
        "version = 1\n{on_failure}\n[[command]]\nevent = \"PreToolUse\"\nmatcher = \"echo\"\n\
         command = \"{line}\"\n"
    )
}

/// What the model reads of a tool call under a policy, and whether the tool ran.
async fn under(policy: Policy) -> (String, bool) {
    let ran = Arc::new(Records::new());
    let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
    let builder = ReActAgent::builder("assistant").model(model).tool(echo_tool(&ran));
    let agent = builder.hook_source(policy).build().unwrap();
    agent.call(go()).await.unwrap();
    (results(&agent)[0].1.clone(), !ran.take().is_empty())
}

#[tokio::test]
async fn a_command_of_a_file_refuses_a_tool_call() {
    let policy = refuses("", "echo no echoes >&2; exit 2");
    let policy = Policy::builder().session(file(&policy)).open().unwrap();
    assert_eq!(under(policy).await, ("! no echoes".to_owned(), false));
}

#[tokio::test]
async fn a_command_of_the_project_needs_trust() {
    let content = refuses("", "exit 2");
    let errors = Policy::builder().project(file(&content)).open().unwrap_err();
    let error = errors.list()[0].to_string();
    assert!(error.starts_with("policy.toml:3:1: command[0].trust: expected a trusted command"));
    let start = error.find("sha256:").unwrap();
    let hash = &error[start..start + "sha256:".len() + 64];

    let policy = Policy::builder().project(file(&content)).trust(Trust::hashes([hash]));
    assert!(!under(policy.open().unwrap()).await.1);

    let changed = file(&content.replace("exit 2", "exit 0"));
    let policy = Policy::builder().project(changed).trust(Trust::hashes([hash])).open();
    assert!(policy.is_err());
}

#[tokio::test]
async fn only_managed_commands_run_if_they_alone_may() {
    let builder = Policy::builder().managed(file("version = 1")).only_managed_commands(true);
    let user = PolicyFile::text("user.toml", refuses("", "exit 2"));
    assert!(under(builder.user(user).open().unwrap()).await.1);
}

#[tokio::test]
async fn a_lower_layer_does_not_weaken_the_commands_of_a_higher_one() {
    let managed = file(&refuses("", "exit 1"));
    let user = PolicyFile::text("user.toml", "version = 1\non_failure = \"continue\"\n");
    let policy = Policy::builder().managed(managed).user(user).open().unwrap();
    assert!(!under(policy).await.1);

    let own = file(&refuses("on_failure = \"continue\"", "exit 1"));
    assert!(under(Policy::builder().managed(own).open().unwrap()).await.1);
}

#[test]
fn mistakes_of_commands_are_reported_with_those_of_hooks() {
    let content = "version = 1\n[[hook]]\nuse = \"timingg\"\n[[command]]\nevent = \"PreToolUs\"\n\
                   matcher = \"(\"\nexec = [\"true\"]\n";
    let errors = Policy::builder().session(file(content)).open().unwrap_err();
    let lines: Vec<_> = errors.list().iter().map(ToString::to_string).collect();
    assert!(lines[0].starts_with("policy.toml:3:7: hook[0].use"), "{lines:?}");
    assert!(lines[1].starts_with("policy.toml:5:9: command[0].event"), "{lines:?}");
    assert!(lines[2].starts_with("policy.toml:6:11: command[0].matcher"), "{lines:?}");
    assert_eq!(lines.len(), 3, "{lines:?}");
}

#[test]
fn the_hash_of_a_command_does_not_depend_on_secrets() {
    let hash_with = |variable: &str| {
        let content = format!(
            "version = 1\n[[command]]\nevent = \"PreToolUse\"\nexec = [\"true\"]\n\
             env = {{ KEY = \"{variable}\" }}\n"
        );
        let error = Policy::builder().project(file(&content)).open().unwrap_err().to_string();
        error[error.find("sha256:").unwrap()..].to_owned()
    };
    let value = std::env::var("HOME").unwrap();
    assert_ne!(hash_with("${env:HOME}"), hash_with(&value));
    assert_ne!(hash_with("${env:HOME}"), hash_with("$${env:HOME}"));
    assert_eq!(hash_with("${env:HOME}"), hash_with("${env:HOME}"));
}

#[test]
fn values_of_the_environment_are_not_in_what_is_printed() {
    let content = "version = 1\n[[command]]\nevent = \"PreToolUse\"\nexec = [\"true\"]\n\
                   env = { HOME_OF_TESTS = \"${env:HOME}\" }\n";
    let policy = Policy::builder().session(file(content)).open().unwrap();
    let home = std::env::var("HOME").unwrap();
    let printed = format!("{policy:?} {} {:?}", policy.merged(), policy.merged());
    assert!(!printed.contains(&format!("\"{home}\"")) && !printed.contains(&format!("={home}")));
}

#[test]
fn a_command_that_is_trusted_no_longer_fails_a_reload() {
    let folder = Folder::with(&refuses("", "exit 2"));
    let trusted = folder.path().join("trusted.json");
    let open = || Policy::builder().project(folder.file()).trust(Trust::file(&trusted)).open();
    let error = open().unwrap_err().to_string();
    let start = error.find("sha256:").unwrap();
    Trust::file(&trusted).add(&error[start..start + "sha256:".len() + 64]).unwrap();
    let policy = open().unwrap();

    std::fs::remove_file(&trusted).unwrap();
    folder.write(&format!("{}[[hook]]\nuse = \"timing\"\n", refuses("", "exit 2")));
    let errors = policy.reload().unwrap_err();
    assert!(errors.to_string().contains("expected a trusted command"), "{errors}");
    assert_eq!(policy.version(), 1);
}

const MOVES: &str = "HOOKS_POLICY_MOVES";

#[test]
fn commands_of_a_reload_run_where_the_program_was() {
    let (first, second) = (Folder::with(""), Folder::with(""));
    std::fs::write(second.path().join("moved"), "").unwrap();
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "commands::child", "--nocapture"])
        .current_dir(first.path())
        .env(MOVES, second.path())
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
}

/// What the process does; else nothing.
#[tokio::test]
async fn child() {
    let Some(other) = std::env::var_os(MOVES) else { return };
    let folder = Folder::with("version = 1\n");
    let policy = Policy::builder().session(folder.file()).open().unwrap();
    std::env::set_current_dir(other).unwrap();
    folder.write(&refuses("", "test ! -e moved || exit 2"));
    policy.reload().unwrap();
    assert!(under(policy).await.1, "the command ran elsewhere");
}

#[test]
fn what_is_wrong_beside_a_command_that_is_missing_is_reported_too() {
    let content = "version = 1\n[[command]]\nevent = \"PreToolUs\"\nmatcher = \"Bash(rm:*)\"\n\
                   [[command]]\nmatcher = \"(\"\nexec = \"guards/check --strict\"\n\
                   [[command]]\nevent = \"PreToolUse\"\nexec = [\"true\"]\ntimeout = 5\n";
    let errors = Policy::builder().project(file(content)).open().unwrap_err();
    let lines: Vec<_> = errors.list().iter().map(ToString::to_string).collect();
    for (line, expected) in lines.iter().zip([
        "policy.toml:2:1: command[0]: missing key `exec`; write `exec = [\"guards/check\"]`",
        "policy.toml:3:9: command[0].event: unknown event `PreToolUs`, did you mean `PreToolUse`?",
        "policy.toml:4:11: command[0].matcher: expected names or a regular expression",
        "policy.toml:5:1: command[1]: missing key `event`",
        "policy.toml:6:11: command[1].matcher: invalid regular expression",
        "policy.toml:7:8: command[1].exec: expected a program and its arguments, found a string; \
         write `exec = [\"guards/check\", \"--strict\"]`",
        "policy.toml:8:1: command[2].trust: expected a trusted command",
        "policy.toml:11:11: command[2].timeout: expected a time such as `\"10s\"`: a whole number \
         with `ms`, `s`, `m` or `h`, found a whole number; write `\"5s\"`",
    ]) {
        assert!(line.starts_with(expected), "{expected}\n{lines:#?}");
    }
    assert_eq!(lines.len(), 8, "{lines:#?}");
}
