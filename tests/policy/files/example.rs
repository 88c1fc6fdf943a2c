//! The file of the example, as the example loads it.

use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_policy::policy::{MergedHook, Policy};
use serde_json::Value;

use crate::support::builder;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/policy_file/policy.toml");

#[test]
fn the_file_of_the_example_switches_ten_hooks_on() {
    let policy = Policy::builder().project(FILE).open().unwrap();
    let merged = policy.merged();
    let names: Vec<_> = merged.hooks().iter().map(MergedHook::uses).collect();
    assert_eq!(
        names,
        [
            "pii_detection",
            "sensitive_words",
            "sanitize",
            "human_in_the_loop",
            "inject_prompt",
            "model_retry",
            "tool_call_limit",
            "budget",
            "spotlight",
            "logging",
        ]
    );
    let tool = |name| FunctionTool::new(name, "Runs.", async |_: Value| "ran");
    let agent = ["browse", "look_up", "pay"].into_iter().map(tool);
    let agent = agent.fold(builder("assistant", &policy), ReActAgentBuilder::tool);
    let agent = agent.build().unwrap();
    assert!(agent.hook_plan().warnings().is_empty(), "{:?}", agent.hook_plan().warnings());
}

#[test]
fn the_merged_policy_prints_each_entry_with_its_layer_and_line() {
    let shown = Policy::builder().project(FILE).check().unwrap().to_string();
    let file = FILE;
    for line in [
        format!("  200 few look-ups (tool_call_limit), project ({file}:51)"),
        format!("  deny_tools: mcp__*, project ({file}:7)"),
        format!("  max_iters = 8, project ({file}:6)"),
    ] {
        assert!(shown.lines().any(|it| it.trim() == line.trim()), "{line}\n{shown}");
    }
}
