//! Tool calls that hooks change after the approval, and that deciders edit.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hooks_agent_builtin::guard::{ApprovalRequest, Decision, ToolApproval, ToolParams};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use serde_json::{Value, json};

use crate::tool_approval::{always, pay, payer, results};

#[test]
fn the_permission_of_the_tool_applies_to_the_edited_call() {
    for (edited, expected) in [(50, "paid"), (51, "at most 50")] {
        let model = Script::new().calls([pay(1)]).says("done");
        let (hook, _) = always(Decision::Edit(json!({ "euros": edited })));
        let agent = ReActAgent::builder("bot").model(model).tool(limited()).hook(hook);
        let agent = agent.build().unwrap();
        block_on(agent.call("go")).unwrap();
        assert_eq!(results(&agent)[0].output, expected);
    }
}

fn limited() -> FunctionTool {
    FunctionTool::new("pay", "Pays.", async |_: Value| "paid").permission(|call| {
        match call.input["euros"].as_u64() {
            Some(0..=50) => Permission::Allow,
            _ => Permission::Deny("at most 50".to_owned()),
        }
    })
}

/// Changes the call around the tool.
struct Around(fn(&mut ToolUse));

#[agent_hook]
impl Around {
    async fn change(
        &self,
        mut call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        self.0(call.tool_use_mut());
        next.run(call.into_tool_use()).await
    }
}

/// Changes the call at `PreActing`.
struct Before(fn(&mut ToolUse));

#[agent_hook]
impl Before {
    fn change(&self, event: &mut PreActing<'_>) {
        self.0(event.tool_use_mut());
    }
}

#[test]
fn a_call_that_is_changed_after_the_approval_does_not_run() {
    let more = |call: &mut ToolUse| call.input["euros"] = json!(1000);
    let other = |call: &mut ToolUse| call.name = "donate".to_owned();
    let unseen = |call: &mut ToolUse| call.input["to"] = json!("[hidden]");
    for change in [more, other, unseen] {
        for priority in [1, 15, 100, 900] {
            for around in [false, true] {
                let (tool, donate) = (Calls::new("pay"), Calls::new("donate").answers("given"));
                let agent = payer([pay(100)], &tool.clone().answers("paid")).tool(donate.clone());
                let agent = agent.hook(always(Decision::Allow).0);
                let agent = if around {
                    agent.hook(Around(change).with_priority(priority))
                } else {
                    agent.hook(Before(change).with_priority(priority))
                };
                let agent = agent.build().unwrap();
                block_on(agent.call("go")).unwrap();
                // A hook of `PreActing` before the approval changes what is approved.
                let is_before = !around && priority < priority::AUTH;
                let ran = tool.inputs().len() + donate.inputs().len();
                assert_eq!(ran, usize::from(is_before), "{priority} {around}");
                let result = results(&agent).remove(0);
                let text = result.output.as_str();
                assert!(is_before || text.ends_with("differs from the approved call"), "{text}");
            }
        }
    }
}

#[test]
fn a_call_that_becomes_a_guarded_one_does_not_run() {
    let pays = |call: &mut ToolUse| call.name = "pay".to_owned();
    for around in [false, true] {
        let tool = Calls::new("pay").answers("paid");
        let call = ToolUse::new("1", "look", json!({}));
        let (hook, asked) = always(Decision::Allow);
        let agent = payer([call], &tool).tool(Calls::new("look")).hook(hook);
        let agent = if around { agent.hook(Around(pays)) } else { agent.hook(Before(pays)) };
        let agent = agent.build().unwrap();
        block_on(agent.call("go")).unwrap();
        assert_eq!((tool.inputs().len(), asked.load(Ordering::Relaxed)), (0, 0));
        assert!(results(&agent)[0].output.as_str().ends_with("it is not approved"));
    }
}

#[test]
fn hidden_arguments_are_added_to_an_approved_call_unseen() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let hook = ToolApproval::new(["pay"], move |request: ApprovalRequest| {
        log.lock().unwrap().push(request.tool_use().input.clone());
        assert!(!format!("{request:?}").contains("100"));
        async { Decision::Allow }
    });
    let params = ToolParams::new().secret("key", "hunter2".to_owned());
    let tool = FunctionTool::new("pay", "Pays.", async |input: Value| {
        if input["key"] == "hunter2" { Ok("paid") } else { Err("no key") }
    });
    let model = Script::new().calls([pay(100)]).says("done");
    let agent = ReActAgent::builder("bot").model(model).tool(tool).hook(hook).hook(params);
    let agent = agent.build().unwrap();
    block_on(agent.call("go")).unwrap();
    assert_eq!(results(&agent)[0].output, "paid");
    assert_eq!(*seen.lock().unwrap(), [json!({ "euros": 100 })]);
}
