//! A library that publishes hooks and tools depends on this crate alone: every macro finds it.

use futures::executor::block_on;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::event::{Flow, PostCall, PreActing};
use hooks_agent_core::message::{Role, ToolUse};
use hooks_agent_core::model::{ChatRequest, ScriptedAnswer, ScriptedModel};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::tool::ToolContext;
use hooks_agent_core::{Hookable, Hooks, agent_hook, hook, hookable, on, tool};
use serde_json::json;

/// Refuses tools whose names begin with `delete`.
struct NoDeletes;

#[agent_hook]
impl NoDeletes {
    fn refuse(&self, event: &mut PreActing<'_>) -> Flow {
        if event.tool_use().name.starts_with("delete") {
            return event.refuse("nothing is deleted here");
        }
        Flow::Continue
    }
}

/// Signs what it runs in.
#[derive(Default)]
struct Everywhere;

#[agent_hook(class, name = "alone")]
impl Everywhere {
    fn sign(&self, event: &mut PostCall<'_>) {
        event.final_message_mut().push_text("class");
    }
}

/// Deletes a file.
#[tool]
fn delete_file(name: &str) -> String {
    panic!("{name} must not be deleted")
}

/// Counts words.
#[tool]
fn count(
    /// What to count.
    words: &str,
    cx: &ToolContext,
) -> String {
    cx.progress("counting");
    words.split(' ').count().to_string()
}

#[derive(Default, Hookable)]
struct Desk {
    hooks: Hooks,
}

#[hookable]
impl Desk {
    #[hook]
    fn add(&self, one: u32, other: u32) -> u32 {
        one + other
    }
}

#[test]
fn hooks_and_tools_work_without_the_facade() {
    let model = ScriptedModel::new("script", |request: &ChatRequest| -> ScriptedAnswer {
        match request.messages.iter().filter(|msg| msg.role == Role::Tool).count() {
            0 => ToolUse::new("1", "delete_file", json!({ "name": "notes" })).into(),
            1 => ToolUse::new("2", "count", json!({ "words": "a b c" })).into(),
            _ => "done".into(),
        }
    });
    let agent = ReActAgent::builder("clerk")
        .model(model)
        .tool(DeleteFile)
        .tool(Count)
        .hook(NoDeletes)
        .hook(on!(async |event: &mut PostCall<'_>| event.final_message_mut().push_text("closure")))
        .build()
        .unwrap();
    let reply = block_on(agent.call("Clean up.")).unwrap();
    assert_eq!(reply.text(), "doneclosureclass");
}

#[test]
fn methods_are_hooked_without_hooks_core_by_name() {
    let desk = Desk::default();
    let more = hook!(Desk::PRE_ADD, |_, args| args.one += 1);
    desk.register_instance_hook(Desk::PRE_ADD, "more", more);
    assert_eq!(desk.add(1, 2), 4);
}
