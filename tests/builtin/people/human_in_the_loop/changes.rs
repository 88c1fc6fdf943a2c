//! A tool call runs as a person approved it, whatever other hooks do.

use hooks_agent_builtin::guard::RuleOfTwo;
use hooks_agent_builtin::people::{Gate, HumanInTheLoop};
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::Decision;
use hooks_agent_core::testing::{Calls, Script};
use serde_json::{Value, json};

use crate::human_in_the_loop::{Clerk, inputs, pay};

fn people() -> HumanInTheLoop {
    HumanInTheLoop::new().ask("pay")
}

/// A hook that changes the arguments of every tool call.
fn sets(euros: u64, priority: i32) -> impl AgentHook {
    on(move |event: &mut PreActing<'_>| event.tool_use_mut().input["euros"] = json!(euros))
        .with_priority(priority)
}

async fn approved(hook: impl AgentHook, tool: &Calls) -> ToolResult {
    let script = Script::new().calls([pay("1", 5)]).says("done");
    let clerk = Clerk::with(&script, &[tool], |builder| builder.hook(hook).hook(people()));
    clerk.go().await;
    clerk.decide([("1", Decision::Approve)]).await;
    clerk.results().remove(0)
}

#[tokio::test]
async fn a_call_that_a_hook_changes_after_the_approval_does_not_run() {
    let tool = Calls::new("pay").answers("paid");
    let result = approved(sets(5000, 100), &tool).await;
    assert!(result.is_error && inputs(&tool).is_empty(), "{}", result.output);
    assert!(result.output.as_str().contains("was changed"));
}

#[tokio::test]
async fn hidden_arguments_are_excepted() {
    let tool = Calls::new("pay").answers("paid");
    let hide = on(|event: &mut PreActing<'_>| event.tool_use_mut().hide("key", "s3cr3t"));
    let result = approved(hide, &tool).await;
    assert_eq!(result.output, "paid");
    tool.assert_called_with([json!({ "euros": 5, "key": "[hidden]" })]);
}

#[tokio::test]
async fn a_call_that_a_hook_turns_into_one_that_needs_a_person_does_not_run() {
    let large = Gate::new().when(|call, _| call.input["euros"] != json!(5));
    for priority in [1, 100] {
        let tool = Calls::new("pay").answers("paid");
        let script = Script::new().calls([pay("1", 5)]).says("done");
        let clerk = Clerk::with(&script, &[&tool], |builder| {
            let people = HumanInTheLoop::new().ask_with("pay", large.clone());
            builder.hook(sets(5000, priority)).hook(people)
        });
        assert_eq!(clerk.go().await.text(), "done");
        assert!(inputs(&tool).is_empty());
        let output = clerk.results()[0].output.as_str().to_owned();
        assert!(output.contains("nobody was asked about this call of `pay`"), "{output}");
    }
}

#[tokio::test]
async fn arguments_that_a_hook_repairs_do_not_run_unasked() {
    let broken = ToolUse::invalid("1", "pay", "{oops");
    let tool = Calls::new("pay").answers("paid");
    let repair = on(|event: &mut PreActing<'_>| event.tool_use_mut().invalid_input = None);
    let script = Script::new().calls([broken]).says("done");
    let clerk = Clerk::with(&script, &[&tool], |builder| builder.hook(repair).hook(people()));
    assert_eq!(clerk.go().await.text(), "done");
    assert!(inputs(&tool).is_empty());
}

#[tokio::test]
async fn people_see_what_redactors_left() {
    let redact = on(|event: &mut PostReasoning<'_>| {
        for block in &mut event.message_mut().content {
            if let ContentBlock::ToolUse(call) = block {
                call.input["iban"] = json!("[IBAN]");
            }
        }
    });
    let call = ToolUse::new("1", "pay", json!({ "iban": "DE89 3704" }));
    let tool = Calls::new("pay").answers("paid");
    let clerk = Clerk::with(&Script::new().calls([call]).says("done"), &[&tool], |builder| {
        builder.hook(people()).hook(redact.with_priority(10))
    });
    clerk.go().await;
    let waiting = clerk.waiting().await;
    assert_eq!(waiting[0].arguments, json!({ "iban": "[IBAN]" }));
    // With a blank: ids and digests have any digits.
    assert!(!serde_json::to_string(&waiting).unwrap().contains(" 3704"));
}

#[tokio::test]
async fn other_hooks_see_the_arguments_that_a_person_gave_before_the_tool_runs() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::<Value>::new()));
    let noted = seen.clone();
    let see = on(move |event: &mut PreActing<'_>| {
        noted.lock().unwrap().push(event.tool_use().input.clone());
    });
    let tool = Calls::new("pay").answers("paid");
    let script = Script::new().calls([pay("1", 500)]).says("done");
    let clerk = Clerk::with(&script, &[&tool], |builder| builder.hook(people()).hook(see));
    clerk.go().await;
    clerk.decide([("1", Decision::Edit(json!({ "euros": 5 })))]).await;
    assert_eq!(*seen.lock().unwrap(), [json!({ "euros": 5 })]);
    tool.assert_called_with([json!({ "euros": 5 })]);
}

#[tokio::test]
async fn a_call_of_a_message_that_a_hook_wrote_is_asked_about_also_if_its_ids_are_odd() {
    for ids in [["1", "1"], ["", ""], ["a/b", "c"]] {
        let tool = Calls::new("pay");
        let replace = on(move |event: &mut PostReasoning<'_>| {
            let calls = ids.map(|id| ContentBlock::ToolUse(pay(id, 5)));
            event.message_mut().content = calls.to_vec();
        });
        let clerk = Clerk::with(&Script::new().says("hi").says("done"), &[&tool], |builder| {
            builder.hook(replace.with_priority(1)).hook(people())
        });
        assert_eq!(clerk.go().await.reason, Some(GenerateReason::PermissionAsking), "{ids:?}");
        assert_eq!(clerk.waiting().await.len(), 2, "{ids:?}");
        clerk.agent.resume(CallOptions::new()).await.unwrap();
        assert!(inputs(&tool).is_empty());
    }
}

#[tokio::test]
async fn an_approved_call_stays_approved_while_another_hook_asks_about_another_call() {
    let (send, pays) = (Calls::new("send").answers("sent"), Calls::new("pay").answers("paid"));
    let calls = [ToolUse::new("0", "send", json!({})), pay("1", 500)];
    let ask = on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
        "send" => event.ask("it leaves the house"),
        _ => Flow::Continue,
    });
    let script = Script::new().calls(calls).says("done");
    let clerk = Clerk::with(&script, &[&send, &pays], |builder| builder.hook(people()).hook(ask));
    clerk.go().await;
    let reply = clerk.decide([("1", Decision::Edit(json!({ "euros": 5 })))]).await;
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    assert_eq!(clerk.waiting().await[0].tool, "send");
    assert_eq!(clerk.decide([("0", Decision::Approve)]).await.text(), "done");
    send.assert_called_with([json!({})]);
    pays.assert_called_with([json!({ "euros": 5 })]);
}

#[tokio::test]
async fn one_approval_satisfies_hooks_that_ask_later() {
    let tool = Calls::new("pay").answers("paid");
    let rule =
        RuleOfTwo::new().untrusted_input(["pay"]).private_data(["pay"]).changes_state(["pay"]);
    let result = approved(rule, &tool).await;
    assert_eq!(result.output, "paid");
}
