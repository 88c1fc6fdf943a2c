//! Names of tools that an agent does not have.

use std::time::Duration;

use hooks_agent_builtin::context::{ContextEditing, ToolSelector};
use hooks_agent_builtin::guard::{
    Decision, Labels, PiiDetection, RuleOfTwo, Sanitize, Spotlight, ToolApproval, ToolParams, Vault,
};
use hooks_agent_builtin::limit::{RateLimit, ToolCallLimit};
use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_builtin::recover::{CircuitBreaker, ToolEmulator, ToolRetry};
use hooks_agent_core::hook::DynAgentHook;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::{Calls, Script};

fn bare() -> ReActAgentBuilder {
    ReActAgent::builder("bot").model(Script::new()).tool(Calls::new("delete"))
}

fn warnings(agent: &ReActAgent) -> Vec<String> {
    agent.hook_plan().warnings().iter().map(ToString::to_string).collect()
}

/// Every built-in whose settings name a tool, with this name.
fn naming(tool: &str) -> Vec<Box<dyn DynAgentHook>> {
    let model = ScriptedModel::new("plays", |_| "done");
    let approve = ToolApproval::new([tool], async |_| Decision::Allow);
    let rate = RateLimit::of_tools().only(tool).requests(1, Duration::from_secs(1));
    let vault = PiiDetection::email().vault(Vault::new()).reveal_only_to([tool]);
    vec![
        Box::new(HumanInTheLoop::new().ask(tool)),
        Box::new(RuleOfTwo::new().private_data([tool]).unlabelled(Labels::NONE)),
        Box::new(ToolRetry::new().tools([tool])),
        Box::new(CircuitBreaker::for_tool(tool)),
        Box::new(vault),
        Box::new(approve),
        Box::new(Spotlight::new([tool])),
        Box::new(Sanitize::new("x", "y").unwrap().for_tools([tool])),
        Box::new(ToolParams::new().for_tools([tool])),
        Box::new(ToolEmulator::new(model).tools([tool])),
        Box::new(ToolCallLimit::of(tool).run(1).build().unwrap()),
        Box::new(rate.build().unwrap()),
        Box::new(ContextEditing::builder().exclude_tools([tool]).build().unwrap()),
        Box::new(ToolSelector::by_search(3).always_include([tool])),
    ]
}

#[test]
fn a_tool_that_the_agent_does_not_have_is_a_warning_with_the_near_name() {
    for hook in naming("delet") {
        let name = hook.name();
        let found = warnings(&bare().hook(hook).build().unwrap());
        let expected = "the agent has no tool `delet`: did you mean `delete`?";
        assert_eq!(found, [format!("`{name}`: {expected}")]);
    }
    let found = warnings(&bare().hook(HumanInTheLoop::new().ask("confetti")).build().unwrap());
    let expected =
        "the agent has no tool `confetti`: name one of its tools, unless it is one of a front end";
    assert_eq!(found, [format!("`HumanInTheLoop`: {expected}")]);
}

#[test]
fn tools_of_the_agent_of_its_hooks_and_of_its_sub_agents_are_known() {
    for hook in naming("delete") {
        let (name, agent) = (hook.name(), bare().hook(hook).build().unwrap());
        assert_eq!(warnings(&agent), [""; 0], "{name}");
    }
    let todo = bare().hook(hooks_agent_builtin::context::TodoList::new());
    let agent = todo.hook(HumanInTheLoop::new().ask("write_todos")).build().unwrap();
    assert_eq!(warnings(&agent), [""; 0]);
    // The name of a door of foreign text.
    let words = Sanitize::new("x", "y").unwrap().for_tools(["search_knowledge"]);
    assert_eq!(warnings(&bare().hook(words).build().unwrap()), [""; 0]);
    // A hook that sub-agents inherit is about their tools too; another one is not.
    let below = || bare().build().unwrap().to_tool("Deletes.");
    let above = || ReActAgent::builder("boss").model(Script::new()).tool(below());
    let inherited = above().hook(HumanInTheLoop::new().ask("delete")).build().unwrap();
    assert_eq!(warnings(&inherited), [""; 0]);
    let own = above().hook(ToolRetry::new().tools(["delete"])).build().unwrap();
    assert_eq!(warnings(&own).len(), 1);
}

#[test]
fn a_hook_that_is_registered_later_is_checked_too() {
    let agent = bare().build().unwrap();
    agent.register_agent_hook(Spotlight::new(["delet"]));
    assert_eq!(warnings(&agent).len(), 1);
    agent.remove_agent_hook("Spotlight").unwrap();
    assert_eq!(warnings(&agent), [""; 0]);
    agent.register_call_hook(Sanitize::new("x", "y").unwrap().for_tools(["delet"]));
    assert_eq!(warnings(&agent).len(), 1);
}
