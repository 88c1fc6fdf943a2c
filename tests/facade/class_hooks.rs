//! Class hooks whose settings do not fit an agent.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::executor::block_on;
use hooks_agent::builtin::guard::{PiiDetection, Spotlight, Vault};
use hooks_agent::builtin::limit::{Budget, ModelCallLimit};
use hooks_agent::builtin::people::HumanInTheLoop;
use hooks_agent::error::BuildError;
use hooks_agent::prelude::*;
use hooks_agent::react::ReActAgentBuilder;
use hooks_agent::store::SqliteStore;
use hooks_agent::testing::{Calls, Script};
use serde_json::json;

/// The class hooks of agents of this process are those of one test at a time.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn bare() -> ReActAgentBuilder {
    ReActAgent::builder("bot").model(Script::new().says("done")).tool(Calls::new("delete"))
}

fn warnings(agent: &ReActAgent) -> Vec<String> {
    agent.hook_plan().warnings().iter().map(ToString::to_string).collect()
}

#[test]
fn a_tool_that_an_agent_does_not_have_is_a_warning_of_its_plan() {
    let _turn = turn();
    ReActAgent::register_class_agent_hook(HumanInTheLoop::new().ask("delet").ask("confetti"));
    let expected = ["`HumanInTheLoop`: the agent has no tool `delet`: did you mean `delete`?"];
    let agent = bare().build().unwrap();
    assert_eq!(warnings(&agent), expected);
    let as_any: &dyn Agent = &agent;
    let plan = as_any.hook_plan();
    let of_any: Vec<_> = plan.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(of_any, expected);
    // An agent with other tools is not meant.
    let other = ReActAgent::builder("other").model(Script::new()).tool(Calls::new("read"));
    assert_eq!(warnings(&other.build().unwrap()), [""; 0]);
    ReActAgent::register_class_agent_hook(HumanInTheLoop::new().ask("delete"));
    assert_eq!(warnings(&agent), [""; 0]);
    ReActAgent::remove_class_agent_hook("HumanInTheLoop").unwrap();

    <dyn Agent>::register_class_agent_hook(Spotlight::new(["delet"]));
    assert_eq!(warnings(&agent).len(), 1);
    <dyn Agent>::remove_class_agent_hook("Spotlight").unwrap();
    assert_eq!(warnings(&agent), [""; 0]);
}

#[tokio::test]
async fn a_vault_whose_key_ends_with_the_process_is_a_warning_beside_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("agents.db")).await.unwrap();
    let stored = bare().store(store).build().unwrap();
    let boss = ReActAgent::builder("boss").model(Script::new());
    let boss = boss.tool(stored.to_tool("Deletes.")).build().unwrap();
    let agent = bare().build().unwrap();
    let _turn = turn();
    ReActAgent::register_class_agent_hook(PiiDetection::email().vault(Vault::new()));
    let found = warnings(&stored);
    assert!(found.len() == 1 && found[0].contains("use `Vault::stored`"), "{found:?}");
    // A hook that the sub-agent inherits keeps what its threads refer to.
    assert_eq!(warnings(&boss), found);
    assert_eq!(warnings(&agent), [""; 0]);
    ReActAgent::remove_class_agent_hook("PiiDetection[email]").unwrap();
    assert_eq!(warnings(&stored), [""; 0]);
}

#[test]
fn a_class_hook_that_counts_where_a_hook_of_the_agent_does_fails_the_calls() {
    let _turn = turn();
    let limit = || ModelCallLimit::builder().thread(9).build().unwrap();
    let (own, none) = (bare().hook(limit()).build().unwrap(), bare().build().unwrap());
    ReActAgent::register_class_agent_hook(limit().named("b"));
    let failed = block_on(own.call("Go")).unwrap_err();
    let passed = block_on(none.call("Go"));
    <dyn Agent>::register_class_agent_hook(limit().named("c"));
    let two = block_on(none.call("Go")).unwrap_err();
    ReActAgent::remove_class_agent_hook("b").unwrap();
    <dyn Agent>::remove_class_agent_hook("c").unwrap();
    for (error, names) in [(failed, ["ModelCallLimit", "b"]), (two, ["b", "c"])] {
        let AgentError::Hook(error) = &error else { panic!("{error}") };
        let shared = std::error::Error::source(error).unwrap().downcast_ref();
        let Some(BuildError::SharedCounter { hooks, .. }) = shared else { panic!("{error}") };
        assert_eq!(*hooks, names);
    }
    assert_eq!(passed.unwrap().text(), "done");
    assert_eq!(none.memory().values()["ModelCallLimit"]["thread"], 1);
}

#[test]
fn a_class_hook_counts_sub_agents_with_the_outermost_agent() {
    let _turn = turn();
    let below = bare().build().unwrap().to_tool("Works.");
    let script = Script::new().calls([ToolUse::new("1", "bot", json!({ "task": "work" }))]);
    let boss = ReActAgent::builder("boss").model(script.says("done")).tool(below).build().unwrap();
    let limit = ModelCallLimit::builder().thread(9).counting_sub_agents(true).build().unwrap();
    ReActAgent::register_class_agent_hook(limit);
    ReActAgent::register_class_agent_hook(Budget::builder().run_tokens(1_000).build().unwrap());
    let reply = block_on(boss.call("Go"));
    ReActAgent::remove_class_agent_hook("ModelCallLimit").unwrap();
    ReActAgent::remove_class_agent_hook("Budget").unwrap();
    assert_eq!(reply.unwrap().text(), "done");
    assert_eq!(boss.memory().values()["ModelCallLimit"]["thread"], 3);
}
