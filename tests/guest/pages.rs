//! The runs that the guides show, as they are.

use std::process::Command;

use hooks_agent_core::prelude::*;
use hooks_agent_guest::Dialect;
use hooks_agent_replay::Tape;
use hooks_fixtures::scripted_agents::{go, script, uses};
use serde_json::{Value, json};

use crate::program::{PROGRAM, guarded};

const GUEST: &str = include_str!("../../hooks-agent/docs/guest.md");
const AGENTS: &str = include_str!("../../hooks-agent/docs/guest_agents.md");
const POLICY: &str = include_str!("../../hooks-agent/docs/policy.md");
const REPLAY: &str = include_str!("../../hooks-agent/docs/replay.md");

/// The first block of a language on a page that has a text.
fn block<'a>(page: &'a str, language: &str, with: &str) -> &'a str {
    let blocks = page.split("```").skip(1).step_by(2);
    let blocks = blocks.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n'));
    blocks.into_iter().find(|block| block.contains(with)).expect("the page has the block")
}

/// What the program prints.
fn printed(args: &[&str]) -> String {
    let output = Command::new(PROGRAM).args(args).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Compares what was printed with what a page shows.
fn assert_shown(printed: &str, shown: &str) {
    let lines = |text: &str| text.trim().lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(lines(printed), lines(shown), "{printed}");
}

#[test]
fn the_guide_of_guests_shows_what_a_guard_answers() {
    let input = block(GUEST, "sh", "echo");
    let event = input.split('\'').nth(1).unwrap();
    let answer = guarded(block(GUEST, "toml", "pii_detection"), event);
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
    let shown: Value = serde_json::from_str(block(GUEST, "json", "permissionDecision")).unwrap();
    assert_eq!(answer, shown);
}

#[test]
fn the_guide_of_coding_agents_shows_what_check_prints() {
    for agent in Dialect::ALL.into_iter().filter(|agent| agent.name() != "hooks-agent") {
        let shown = block(AGENTS, "text", &format!("{}, as version", agent.agent()));
        assert_shown(&printed(&["check", "--agent", agent.name()]), shown);
    }
}

#[test]
fn the_guide_of_policies_shows_what_check_prints() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    std::fs::write(&file, block(POLICY, "toml", "support-*")).unwrap();
    let printed = printed(&["check", file.to_str().unwrap()]);
    let printed = printed.replace(file.to_str().unwrap(), "policy.toml");
    assert_shown(&printed, block(POLICY, "text", "highest layer first"));
}

#[tokio::test]
async fn the_guide_of_tapes_shows_what_replay_prints() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape");
    let tape = Tape::record(&path).open().unwrap();
    let call = ToolUse::new("call-1", "delete", json!({ "path": "build" }));
    let (model, _) = script([uses([call]), "Done.".into()]);
    let delete = FunctionTool::new("delete", "Deletes.", async |_: Value| "deleted");
    let builder = ReActAgent::builder("janitor").model(model).tool(delete);
    builder.hook(tape.clone()).build().unwrap().call(go()).await.unwrap();
    tape.finish().unwrap();
    let policy = folder.path().join("new.toml");
    std::fs::write(&policy, "version = 1\n[limits]\ndeny_tools = [\"delete\"]\n").unwrap();

    let args = ["replay", path.to_str().unwrap(), "--policy", policy.to_str().unwrap()];

    assert_shown(&printed(&args), block(REPLAY, "text", "would go another way"));
}
