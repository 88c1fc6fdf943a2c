//! A hook and its unit tests: each runs the hook against one event, without an agent or a model.
//!
//! `cargo run --example hook_test --features testing` runs the tests of this file one after the
//! other; in a crate of your own they are `#[test]` functions.

use hooks_agent::prelude::*;
use hooks_agent::testing::{Calls, NotInterested, Probe, Script, check_history};
use serde_json::json;

struct User(&'static str);

/// Lets nobody but the owner delete, and hides e-mail addresses in results.
struct Guard {
    owner: &'static str,
}

#[agent_hook(priority = priority::SECURITY)]
impl Guard {
    fn deny(&self, event: &mut PreActing<'_>) -> Flow {
        let user = event.context().get::<User>();
        let is_owner = user.is_some_and(|user| user.0 == self.owner);
        if event.tool_use().name == "delete" && !is_owner {
            return event.refuse("only the owner deletes");
        }
        Flow::Continue
    }

    fn hide(&self, event: &mut PostActing<'_>) {
        let hide = |word: &str| if word.contains('@') { "<mail>" } else { word }.to_owned();
        event
            .tool_result_mut()
            .output
            .map_text(|text| text.split(' ').map(hide).collect::<Vec<_>>().join(" "));
    }
}

fn delete() -> ToolUse {
    ToolUse::new("1", "delete", json!({ "path": "/tmp/a" }))
}

async fn strangers_do_not_delete() -> Result<(), NotInterested> {
    let probe = Probe::new(Guard { owner: "ada" }).value(User("bob"));
    probe.pre_acting(delete()).await?.assert_refused("only the owner deletes");
    let probe = Probe::new(Guard { owner: "ada" }).value(User("ada"));
    probe.pre_acting(delete()).await?.assert_continues().assert_unchanged();
    Ok(())
}

async fn addresses_are_hidden_in_results() -> Result<(), NotInterested> {
    let call = ToolUse::new("1", "find", json!({}));
    let found = ToolResult::success(&call, "write to ada@example.com today");
    let seen = Probe::new(Guard { owner: "ada" }).post_acting(&call, found).await?;
    assert_eq!(seen.event.output, "write to <mail> today");
    Ok(())
}

async fn the_guard_does_not_look_at_calls() {
    let seen = Probe::new(Guard { owner: "ada" }).pre_call("hello").await;
    assert!(matches!(seen, Err(NotInterested { .. })));
}

/// The same hook in an agent, with a scripted model and a tool that records its calls.
async fn an_agent_tells_the_model_why() -> Result<(), AgentError> {
    let model = Script::new().calls([delete()]).says("I may not.");
    let tool = Calls::new("delete");
    let agent = ReActAgent::builder("bot")
        .model(model.clone())
        .tool(tool.clone())
        .hook(Guard { owner: "ada" })
        .build()?;
    assert_eq!(agent.call("Clean up").await?.text(), "I may not.");
    tool.assert_called_with([]);
    check_history(agent.memory());
    model.finish();
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    strangers_do_not_delete().await?;
    println!("strangers do not delete ... ok");
    addresses_are_hidden_in_results().await?;
    println!("addresses are hidden in results ... ok");
    the_guard_does_not_look_at_calls().await;
    println!("the guard does not look at calls ... ok");
    an_agent_tells_the_model_why().await?;
    println!("an agent tells the model why ... ok");
    Ok(())
}
