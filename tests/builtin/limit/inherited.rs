//! Limits of an agent and of its sub-agent: both hold, and each counts on its own.

use futures::executor::block_on;
use hooks_agent_builtin::limit::{Budget, Exit, ModelCallLimit, ToolCallLimit};
use hooks_agent_core::hook::AgentHook;
use hooks_agent_core::memory::Memory;
use hooks_agent_core::message::{ToolUse, Usage};
use hooks_agent_core::model::ScriptedAnswer;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use serde_json::{Value, json};

use crate::task::assert_valid;

/// Calls a tool in each round, at a cost of 10 tokens, until it is stopped.
fn worker(calls: usize) -> Script {
    (0..calls).fold(Script::new(), |script, number| {
        let call = ToolUse::new(number.to_string(), "work", json!({}));
        let answer: ScriptedAnswer = vec![ContentBlock::ToolUse(call)].into();
        script.turn(answer.costing(Usage::new(8, 2)))
    })
}

/// Asks the child this often.
fn asks(times: usize) -> Script {
    let script = (0..times).fold(Script::new(), |script, number| {
        let call = ToolUse::new(number.to_string(), "child", json!({ "task": "work" }));
        let answer: ScriptedAnswer = vec![ContentBlock::ToolUse(call)].into();
        script.turn(answer.costing(Usage::new(8, 2)))
    });
    script.turn(ScriptedAnswer::from("done").costing(Usage::new(8, 2)))
}

/// A parent and its child, each with a limit of its own.
struct Family {
    child: ReActAgent,
    parent: ReActAgent,
}

impl Family {
    fn new(child: impl AgentHook, parent: impl AgentHook, times: usize, rounds: usize) -> Self {
        let tool = (0..64).fold(Calls::new("work"), |tool, _| tool.answers("worked"));
        let model = worker(rounds).says("worked");
        let builder = ReActAgent::builder("child").model(model).tool(tool).max_iters(100);
        let child = builder.hook(child).build().unwrap();
        let builder = ReActAgent::builder("parent").model(asks(times)).max_iters(100);
        let parent = builder.tool(child.to_tool("Works.")).hook(parent).build().unwrap();
        Self { child, parent }
    }

    fn call(&self) -> Result<Msg, AgentError> {
        let reply = block_on(self.parent.call("Go"));
        assert_valid(&self.parent);
        reply
    }
}

fn value(memory: &Memory, name: &str, path: &str) -> Value {
    memory.values().get(name).and_then(|value| value.pointer(path)).cloned().unwrap_or_default()
}

fn models(limit: u64, counting: bool) -> ModelCallLimit {
    let limit = ModelCallLimit::builder().thread(limit).counting_sub_agents(counting);
    limit.build().unwrap()
}

#[test]
fn model_calls_of_a_child_count_once_for_it_and_once_for_its_parent() {
    const NAME: &str = "ModelCallLimit";
    for counting in [false, true] {
        // The child is stopped by its own limit; the parent has room.
        let family = Family::new(models(2, false), models(10, counting), 2, 10);
        assert_eq!(family.call().unwrap().text(), "done");
        let (child, parent) = (family.child.memory(), family.parent.memory());
        assert_eq!(value(child, NAME, "/thread"), 2);
        if counting {
            // 3 of its own, and 2 of the child.
            assert_eq!(value(parent, NAME, "/thread"), 5);
        } else {
            assert_eq!(value(parent, NAME, "/thread"), 3);
            assert_eq!(value(child, "ModelCallLimit@parent", "/thread"), 2);
        }
    }
    // The parent's limit of 10 holds for both together: 1 of its own and 9 of the child. The attempt that it
    // refuses is one for the child's own limit, which is outside of it.
    let family = Family::new(models(20, true), models(10, true), 1, 30);
    let reply = family.call().unwrap();
    assert_eq!(reply.text(), "Model call limits exceeded: thread limit (10/10)");
    assert_eq!(value(family.child.memory(), NAME, "/thread"), 10);
    assert_eq!(value(family.parent.memory(), NAME, "/thread"), 10);
}

#[test]
fn tool_calls_of_a_child_count_once_for_it_and_once_for_its_parent() {
    const NAME: &str = "ToolCallLimit";
    let tools = |limit, counting| {
        let limit = ToolCallLimit::all().thread(limit).counting_sub_agents(counting);
        limit.exit(Exit::Continue).build().unwrap()
    };
    for counting in [false, true] {
        let family = Family::new(tools(2, false), tools(10, counting), 1, 4);
        assert_eq!(family.call().unwrap().text(), "done");
        let (child, parent) = (family.child.memory(), family.parent.memory());
        assert_eq!(value(child, NAME, "/thread"), 2);
        if counting {
            // One of its own, and all that the child's model made: a call is refused by one of the limits.
            let counted = value(parent, NAME, "/thread").as_u64().unwrap();
            assert!((3..=5).contains(&counted), "{counted}");
        } else {
            assert_eq!(value(parent, NAME, "/thread"), 1);
        }
    }
}

#[test]
fn a_child_spends_once_from_its_budget_and_once_from_that_of_its_parent() {
    let budget = |tokens| Budget::builder().thread_tokens(tokens).build().unwrap();
    // The child may spend 20 tokens, the parent 100.
    let family = Family::new(budget(20), budget(100), 1, 10);
    assert_eq!(family.call().unwrap().text(), "done");
    assert_eq!(value(family.child.memory(), "Budget", "/thread/tokens"), 20);
    assert_eq!(value(family.parent.memory(), "Budget", "/thread/tokens"), 40);
}

#[test]
fn clones_of_a_budget_on_an_agent_and_on_its_child_charge_the_day_once() {
    let budget = Budget::builder().thread_tokens(1_000).day_tokens(1_000).build().unwrap();
    let family = Family::new(budget.clone(), budget.clone(), 2, 3);
    assert_eq!(family.call().unwrap().text(), "done");
    let all = value(family.parent.memory(), "Budget", "/thread/tokens");
    assert_eq!(budget.spent_today("").tokens, all.as_u64().unwrap());
    assert!(all.as_u64().unwrap() >= 60);
}

#[test]
fn clones_of_one_limit_on_an_agent_and_on_its_child_count_apart() {
    let limit = models(4, true);
    let family = Family::new(limit.clone(), limit, 1, 30);
    let reply = family.call().unwrap();
    assert_eq!(reply.text(), "Model call limits exceeded: thread limit (4/4)");
    assert_eq!(value(family.parent.memory(), "ModelCallLimit", "/thread"), 4);
    assert_eq!(value(family.child.memory(), "ModelCallLimit", "/thread"), 4);
}
