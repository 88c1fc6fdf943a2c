//! Interrupts of sub-agents of sub-agents.

use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::prelude::*;
use serde_json::{Value, json};

use crate::client::{Client, all, one, outcome};
use crate::events::stream::{blocks_then_done, call};
use crate::waiting::approvals::{Seen, approve, deny, ids, pay, two_payments};

/// An agent whose sub-agent has a sub-agent that pays twice.
pub(crate) fn deep(seen: &Seen, parallel: bool) -> ReActAgent {
    let tool = pay(seen).permission(|_| Permission::Ask);
    let payer = ReActAgent::builder("payer").model(two_payments()).tool(tool);
    let payer = payer.parallel_tools(parallel).build().unwrap();
    let ask = vec![call("d", "payer", json!({ "task": "pay" }))];
    let clerk = ReActAgent::builder("clerk").model(blocks_then_done(ask));
    let clerk = clerk.tool(payer.to_tool("Pays")).build().unwrap();
    let ask = vec![call("h", "clerk", json!({ "task": "pay" }))];
    let agent = ReActAgent::builder("bot").model(blocks_then_done(ask));
    agent.tool(clerk.to_tool("Pays")).build().unwrap()
}

pub(crate) fn edit(id: &str, euros: u64) -> Value {
    let payload = json!({ "approved": true, "editedArgs": { "euros": euros } });
    json!({ "interruptId": id, "status": "resolved", "payload": payload })
}

/// Returns the text of the result of a tool call; `none` if there is not exactly one.
fn result<'a>(events: &'a [Value], id: &str) -> &'a str {
    let results = all(events, "TOOL_CALL_RESULT");
    match results.iter().filter(|it| it["toolCallId"] == id).collect::<Vec<_>>()[..] {
        [result] => result["content"].as_str().unwrap(),
        _ => "none",
    }
}

/// Returns the ids of the tool calls that the client knows.
fn known(messages: &[Value]) -> Vec<&str> {
    let calls = messages.iter().filter_map(|message| message["toolCalls"].as_array()).flatten();
    calls.map(|call| call["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn results_of_every_depth_are_of_calls_that_the_client_knows() {
    for parallel in [false, true] {
        let seen = Seen::default();
        let mut client = Client::new(deep(&seen, parallel));
        let events = client.say("pay").await;
        assert_eq!(ids(&events), ["int-h/d/c1", "int-h/d/c2"]);
        let before: Vec<String> = known(&client.messages).iter().map(|&id| id.into()).collect();

        let resume = json!([approve("int-h/d/c1"), deny("int-h/d/c2", "no")]);
        let events = client.resume(resume).await;
        for result in all(&events, "TOOL_CALL_RESULT") {
            let id = result["toolCallId"].as_str().unwrap();
            assert!(before.iter().any(|known| known == id), "{id} was never started");
        }
        assert_eq!(result(&events, "h/d/c1"), "paid");
        assert_eq!(result(&events, "h/d/c2"), "denied: no");
        assert_eq!((result(&events, "h/d"), result(&events, "h")), ("done", "done"));
        assert_eq!(outcome(&events), &json!({ "type": "success" }));
        assert_eq!(*seen.lock().unwrap(), [json!({ "euros": 1 })]);
    }
}

#[tokio::test]
async fn two_denied_calls_of_a_deep_sub_agent_have_results() {
    let seen = Seen::default();
    let mut client = Client::new(deep(&seen, true));
    client.say("pay").await;
    let events = client.resume(json!([deny("int-h/d/c1", "no"), deny("int-h/d/c2", "")])).await;
    assert_eq!(result(&events, "h/d/c1"), "denied: no");
    assert_eq!(result(&events, "h/d/c2"), "denied");
    assert!(seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_call_of_a_sub_agent_that_a_person_rejects_at_a_gate_has_a_result() {
    let seen = Seen::default();
    let payer = ReActAgent::builder("payer").model(two_payments()).tool(pay(&seen));
    let payer = payer.hook(HumanInTheLoop::new().ask("pay")).build().unwrap();
    let ask = vec![call("h", "payer", json!({ "task": "pay" }))];
    let agent = ReActAgent::builder("bot").model(blocks_then_done(ask));
    let mut client = Client::new(agent.tool(payer.to_tool("Pays")).build().unwrap());
    assert_eq!(ids(&client.say("pay").await), ["int-h/c1", "int-h/c2"]);
    let events = client.resume(json!([approve("int-h/c1"), deny("int-h/c2", "no")])).await;
    assert_eq!(result(&events, "h/c1"), "paid");
    assert_eq!(result(&events, "h/c2"), "rejected");
    assert_eq!(outcome(&events), &json!({ "type": "success" }));
    assert_eq!(*seen.lock().unwrap(), [json!({ "euros": 1 })]);
}

#[tokio::test]
async fn the_model_reads_of_every_edit_what_ran() {
    for parallel in [false, true] {
        let seen = Seen::default();
        let mut client = Client::new(deep(&seen, parallel));
        client.say("pay").await;
        let events = client.resume(json!([edit("int-h/d/c1", 7), edit("int-h/d/c2", 8)])).await;
        assert_eq!(*seen.lock().unwrap(), [json!({ "euros": 7 }), json!({ "euros": 8 })]);
        for (id, euros) in [("h/d/c1", 7), ("h/d/c2", 8)] {
            let text = result(&events, id);
            let ran = format!("Executed instead: pay with arguments {{\"euros\":{euros}}}");
            assert!(text.contains(&ran), "{id} {parallel}: {text}");
        }
    }
}

#[tokio::test]
async fn a_call_that_a_hook_stopped_is_edited_like_one_that_asks() {
    let seen = Seen::default();
    let stop = on(|event: &mut PreActing<'_>| {
        let is_confirmed = event.context().is_confirmed(&event.tool_use().id);
        if is_confirmed { Flow::Continue } else { event.stop() }
    });
    let agent = ReActAgent::builder("bot").model(two_payments()).tool(pay(&seen)).hook(stop);
    let mut client = Client::new(agent.build().unwrap());
    client.say("pay").await;
    let events = client.resume(json!([edit("int-c1", 7), edit("int-c2", 8)])).await;
    assert_eq!(*seen.lock().unwrap(), [json!({ "euros": 7 }), json!({ "euros": 8 })]);
    assert!(result(&events, "c1").contains("Executed instead"), "{}", result(&events, "c1"));
    assert!(result(&events, "c2").contains("Executed instead"), "{}", result(&events, "c2"));
}

#[tokio::test]
async fn questions_that_another_channel_asked_have_the_ids_of_their_callers() {
    let seen = Seen::default();
    let agent = std::sync::Arc::new(deep(&seen, true));
    let caller = hooks_agent_ag_ui::Caller::new("ada");
    let options = CallOptions::new().thread(caller.thread("t"));
    agent.call_with(options, "pay").await.unwrap();
    let mut client = Client::of(hooks_agent_ag_ui::AgUi::new(agent));
    let events = client.send(json!({})).await.unwrap();
    assert_eq!(ids(&events), ["int-h/d/c1", "int-h/d/c2"]);
    let events = client.resume(json!([approve("int-h/d/c1"), approve("int-h/d/c2")])).await;
    assert_eq!(one(&events, "RUN_FINISHED")["outcome"], json!({ "type": "success" }));
    assert_eq!(seen.lock().unwrap().len(), 2);
}
