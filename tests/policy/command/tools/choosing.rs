//! Which commands run for a tool call.

use std::fs;

use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Probe;
use hooks_agent_core::tool::Permission;
use hooks_agent_policy::command::OnFailure;
use serde_json::json;

use crate::agents::{Trial, before_tools, hooks};

/// CH-15.
#[tokio::test]
async fn matchers_are_exact_names_or_regular_expressions() {
    let cases = [
        ("mcp__a", "mcp__a__b", false),
        ("mcp__a__.*", "mcp__a__b", true),
        ("Edit|Write", "Write", true),
        ("Edit, Write", "Write", true),
        ("Edit,Write", "Edit", true),
        (" Edit | Write ", "Write", true),
        ("Edit, Write", "Edit, Write", false),
        ("edit|write", "Write", false),
        ("*", "Write", true),
        ("", "Write", true),
        ("^Wri", "Write", true),
    ];
    for (matcher, tool, matches) in cases {
        let guard = before_tools("exit 2").matcher(matcher);
        let probe = Probe::new(hooks([guard]));
        let seen = probe.pre_acting(ToolUse::new("1", tool, json!({}))).await.unwrap();
        if matches {
            seen.assert_refused("blocked by hook `guard`");
        } else {
            seen.assert_continues();
        }
    }
}

#[tokio::test]
async fn a_condition_is_tested_on_every_text_of_the_arguments() {
    let guard = || before_tools("exit 2").condition("Bash(rm *)");
    let probe = Probe::new(hooks([guard()]));
    let see =
        async |tool: &str, input| probe.pre_acting(ToolUse::new("1", tool, input)).await.unwrap();
    see("Bash", json!({ "command": "rm -r /" })).await.assert_refused("guard");
    see("Bash", json!({ "a": "harmless", "command": "rm -r\n/" })).await.assert_refused("guard");
    see("Bash", json!({ "args": ["rm -r /"] })).await.assert_refused("guard");
    see("Bash", json!({ "command": "ls" })).await.assert_continues();
    see("Read", json!({ "command": "rm -r /" })).await.assert_continues();
}

#[tokio::test]
async fn one_handler_runs_once_for_an_event_and_keeps_the_stricter_failure() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let line = format!("echo x >> '{}'; exit 1", seen.display());
    let open = before_tools(&line).on_failure(OnFailure::Continue);
    let entries = [open, before_tools(&line).matcher("write_file")];
    let trial = Trial::of(hooks(entries), Permission::Allow).await;
    assert_eq!(fs::read_to_string(seen).unwrap(), "x\n");
    assert_eq!(trial.result().output, "hook `guard` could not check this call");
}
