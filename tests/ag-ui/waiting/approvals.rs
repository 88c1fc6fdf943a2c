//! Interrupts and their answers.

use std::sync::{Arc, Mutex};

use hooks_agent_ag_ui::{AgUi, Caller, Refused};
use hooks_agent_core::prelude::*;
use serde_json::{Value, json};

use crate::client::{Client, all, one, outcome, types};
use crate::events::stream::{blocks_then_done, call};

pub(crate) type Seen = Arc<Mutex<Vec<Value>>>;

/// A tool that keeps the arguments of its calls.
pub(crate) fn pay(seen: &Seen) -> FunctionTool {
    let seen = seen.clone();
    FunctionTool::new("pay", "Pays.", move |input: Value| {
        seen.lock().unwrap().push(input);
        std::future::ready("paid")
    })
}

pub(crate) fn two_payments() -> ScriptedModel {
    blocks_then_done(vec![
        call("c1", "pay", json!({ "euros": 1 })),
        call("c2", "pay", json!({ "euros": 2 })),
    ])
}

fn asking(seen: &Seen, parallel: bool) -> ReActAgent {
    let tool = pay(seen).permission(|_| Permission::Ask);
    let agent = ReActAgent::builder("bot").model(two_payments()).tool(tool);
    agent.parallel_tools(parallel).build().unwrap()
}

pub(crate) fn approve(id: &str) -> Value {
    json!({ "interruptId": id, "status": "resolved", "payload": { "approved": true } })
}

pub(crate) fn deny(id: &str, reason: &str) -> Value {
    json!({ "interruptId": id, "status": "resolved", "payload": { "approved": false, "reason": reason } })
}

pub(crate) fn ids(events: &[Value]) -> Vec<&str> {
    let interrupts = outcome(events)["interrupts"].as_array().expect("an interrupt");
    interrupts.iter().map(|it| it["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn ag_05_two_calls_that_ask_are_two_interrupts() {
    for parallel in [false, true] {
        let mut client = Client::new(asking(&Seen::default(), parallel));
        client.push_user("pay");
        let events = client.send(json!({ "state": { "page": 3 } })).await.unwrap();
        let types = types(&events);
        let end = ["STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"];
        assert_eq!(types[types.len() - 3..], end);
        assert_eq!(one(&events, "STATE_SNAPSHOT")["snapshot"], json!({ "page": 3 }));
        assert_eq!(ids(&events), ["int-c1", "int-c2"]);
        let interrupt = &outcome(&events)["interrupts"][0];
        assert_eq!(interrupt["reason"], "tool_call");
        assert_eq!(interrupt["toolCallId"], "c1");
        assert_eq!(interrupt["message"], "Run pay?");
        assert_eq!(interrupt["responseSchema"]["required"], json!(["approved"]));
        assert_eq!(interrupt["metadata"]["hooks"]["input"], json!({ "euros": 1 }));
    }
}

#[tokio::test]
async fn ag_06_an_approved_call_runs_and_a_denied_one_does_not() {
    for parallel in [false, true] {
        let seen = Seen::default();
        let mut client = Client::new(asking(&seen, parallel));
        client.say("pay").await;
        let events = client.resume(json!([approve("int-c1"), deny("int-c2", "no")])).await;
        let of_calls = all(&events, "TOOL_CALL_RESULT");
        assert_eq!(of_calls.len(), 2);
        assert_eq!(
            (&of_calls[0]["toolCallId"], &of_calls[0]["content"]),
            (&json!("c1"), &json!("paid"))
        );
        assert_eq!(of_calls[1]["toolCallId"], "c2");
        assert_eq!(of_calls[1]["content"], "denied: no");
        assert_eq!(of_calls[1]["metadata"]["hooks"]["isError"], true);
        assert!(all(&events, "TOOL_CALL_START").is_empty());
        assert_eq!(types(&events)[0], "RUN_STARTED");
        assert_eq!(outcome(&events), &json!({ "type": "success" }));
        assert_eq!(*seen.lock().unwrap(), [json!({ "euros": 1 })]);
    }
}

#[tokio::test]
async fn ag_07_open_interrupts_must_all_be_answered() {
    let seen = Seen::default();
    let agent = Arc::new(asking(&seen, true));
    let mut client = Client::of(AgUi::new(agent.clone()));
    client.say("pay").await;
    let thread = Caller::new("ada").thread("t");
    let before = agent.threads().memory(&thread).unwrap().messages();
    let refused = client.send(json!({ "resume": [approve("int-c1")] })).await.unwrap_err();
    assert_eq!(refused, Refused::NotAnswered { ids: vec!["int-c2".to_owned()] });
    assert_eq!(refused.status(), 409);
    client.push_user("and now?");
    let refused = client.send(json!({})).await.unwrap_err();
    let ids = vec!["int-c1".to_owned(), "int-c2".to_owned()];
    assert_eq!(refused, Refused::NotAnswered { ids });
    assert_eq!(agent.threads().memory(&thread).unwrap().messages(), before);
    assert!(seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn ag_08_edited_arguments_replace_all_of_the_input() {
    for parallel in [false, true] {
        let seen = Seen::default();
        let mut client = Client::new(asking(&seen, parallel));
        client.say("pay").await;
        let edit = |id: &str| {
            let payload = json!({ "approved": true, "editedArgs": { "cents": 5 } });
            json!({ "interruptId": id, "status": "resolved", "payload": payload })
        };
        client.resume(json!([edit("int-c1"), edit("int-c2")])).await;
        assert_eq!(*seen.lock().unwrap(), [json!({ "cents": 5 }), json!({ "cents": 5 })]);
    }
}

#[tokio::test]
async fn guards_see_edited_arguments() {
    let seen = Seen::default();
    let tool = pay(&seen).permission(|_| Permission::Ask);
    let guard = on(|event: &mut PreActing<'_>| match event.tool_use().input["euros"].as_u64() {
        Some(..10) => Flow::Continue,
        _ => event.refuse("too much"),
    });
    let agent = ReActAgent::builder("bot").model(two_payments()).tool(tool).hook(guard);
    let mut client = Client::new(agent.build().unwrap());
    client.say("pay").await;
    let edit = |id: &str| {
        let payload = json!({ "approved": true, "editedArgs": { "euros": 1000 } });
        json!({ "interruptId": id, "status": "resolved", "payload": payload })
    };
    let events = client.resume(json!([edit("int-c1"), edit("int-c2")])).await;
    let contents: Vec<_> =
        all(&events, "TOOL_CALL_RESULT").iter().map(|it| it["content"].clone()).collect();
    assert_eq!(contents, ["too much", "too much"]);
    assert!(seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn cancelled_interrupts_are_errors_for_the_model() {
    let seen = Seen::default();
    let mut client = Client::new(asking(&seen, true));
    client.say("pay").await;
    let cancel = |id: &str| json!({ "interruptId": id, "status": "cancelled" });
    let events = client.resume(json!([cancel("int-c1"), cancel("int-c2")])).await;
    for result in all(&events, "TOOL_CALL_RESULT") {
        assert_eq!(result["content"], "cancelled by the user");
    }
    assert_eq!(all(&events, "TOOL_CALL_RESULT").len(), 2);
    assert!(seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn the_same_resume_again_changes_nothing() {
    let seen = Seen::default();
    let mut client = Client::new(asking(&seen, true));
    client.say("pay").await;
    let resume = json!([approve("int-c1"), approve("int-c2"), approve("int-unknown")]);
    client.resume(resume.clone()).await;
    let before = client.messages.clone();
    let events = client.resume(resume).await;
    assert_eq!(types(&events), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    assert_eq!(client.messages, before);
    assert_eq!(seen.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn an_answer_without_a_decision_is_malformed() {
    let mut client = Client::new(asking(&Seen::default(), true));
    client.say("pay").await;
    let payloads =
        [json!({}), json!({ "approved": "yes" }), json!({ "approved": true, "editedArgs": [1] })];
    for payload in payloads {
        let entry = json!({ "interruptId": "int-c1", "status": "resolved", "payload": payload });
        let resume = json!({ "resume": [entry, approve("int-c2")] });
        assert_eq!(client.send(resume).await.unwrap_err().status(), 400);
    }
    let twice = json!({ "resume": [approve("int-c1"), deny("int-c1", ""), approve("int-c2")] });
    assert_eq!(client.send(twice).await.unwrap_err().status(), 400);
}

#[tokio::test]
async fn what_the_user_says_with_the_answers_follows_the_tools() {
    let seen = Seen::default();
    let mut client = Client::new(asking(&seen, true));
    client.say("pay").await;
    client.push_user("quickly");
    let resume = json!([approve("int-c1"), approve("int-c2")]);
    let events = client.resume(resume).await;
    assert_eq!(outcome(&events), &json!({ "type": "success" }));
    assert_eq!(seen.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_stopped_call_waits_like_one_that_asks() {
    let seen = Seen::default();
    let stop = on(|event: &mut PreActing<'_>| {
        let is_confirmed = event.context().is_confirmed(&event.tool_use().id);
        if is_confirmed { Flow::Continue } else { event.stop() }
    });
    let agent = ReActAgent::builder("bot").model(two_payments()).tool(pay(&seen)).hook(stop);
    let mut client = Client::new(agent.build().unwrap());
    let events = client.say("pay").await;
    assert_eq!(ids(&events), ["int-c1", "int-c2"]);
    client.resume(json!([approve("int-c1"), approve("int-c2")])).await;
    assert_eq!(seen.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_call_that_asks_again_as_another_one_needs_another_answer() {
    let seen = Seen::default();
    let round = Arc::new(Mutex::new(0));
    let raise = on(move |event: &mut PreActing<'_>| {
        let mut round = round.lock().unwrap();
        *round += 1;
        if *round < 3 {
            event.tool_use_mut().input = json!({ "euros": *round * 100 });
            return event.stop();
        }
        Flow::Continue
    });
    let model = blocks_then_done(vec![call("c1", "pay", json!({ "euros": 1 }))]);
    let agent = ReActAgent::builder("bot").model(model).tool(pay(&seen)).hook(raise);
    let mut client = Client::new(agent.build().unwrap());
    let events = client.say("pay").await;
    assert_eq!(ids(&events), ["int-c1"]);
    let interrupt = &outcome(&events)["interrupts"][0];
    assert_eq!(interrupt["metadata"]["hooks"]["input"], json!({ "euros": 100 }));
    let events = client.resume(json!([approve("int-c1")])).await;
    assert_eq!(ids(&events), ["int-c1.2"], "{events:#?}");
    let refused = client.send(json!({ "resume": [approve("int-c1")] })).await.unwrap_err();
    assert_eq!(refused, Refused::NotAnswered { ids: vec!["int-c1.2".to_owned()] });
    assert!(seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_answer_to_a_question_that_the_thread_forgot_is_not_one_to_another() {
    let seen = Seen::default();
    let model = ScriptedModel::new("m", |request| -> ScriptedAnswer {
        let last = request.messages.last().unwrap();
        match last.tool_results().next() {
            Some(_) => "done".into(),
            None => {
                let euros = if last.text() == "more" { 100 } else { 1 };
                ToolUse::new("c1", "pay", json!({ "euros": euros })).into()
            }
        }
    });
    let tool = pay(&seen).permission(|_| Permission::Ask);
    let agent = Arc::new(ReActAgent::builder("bot").model(model).tool(tool).build().unwrap());
    let mut client = Client::of(AgUi::new(agent.clone()));
    assert_eq!(ids(&client.say("pay").await), ["int-c1"]);
    client.resume(json!([approve("int-c1")])).await;
    // A summary takes the place of the conversation, and the page loads it anew.
    let memory = agent.read_thread(&Caller::new("ada").thread("t")).await.unwrap().unwrap();
    memory.replace(vec![Msg::user("pay"), Msg::assistant("bot", "paid")]);
    client.messages.clear();
    client.send(json!({})).await.unwrap();
    client.say("more").await;
    // Another tab answers the question that it still shows.
    let refused = client.send(json!({ "resume": [approve("int-c1")] })).await.unwrap_err();
    assert!(matches!(refused, Refused::NotAnswered { .. }), "{refused:?}");
    assert_eq!(*seen.lock().unwrap(), [json!({ "euros": 1 })]);
}

#[tokio::test]
async fn a_call_that_asks_once_more_needs_one_more_answer() {
    let seen = Seen::default();
    let times = Mutex::new(0);
    let twice = on(move |event: &mut PreActing<'_>| {
        let mut times = times.lock().unwrap();
        *times += 1;
        if *times < 3 { event.stop() } else { Flow::Continue }
    });
    let model = blocks_then_done(vec![call("c1", "pay", json!({ "euros": 1 }))]);
    let agent = ReActAgent::builder("bot").model(model).tool(pay(&seen)).hook(twice);
    let mut client = Client::new(agent.build().unwrap());
    client.say("pay").await;
    client.resume(json!([approve("int-c1")])).await;
    let refused = client.send(json!({ "resume": [approve("int-c1")] })).await.unwrap_err();
    assert!(matches!(refused, Refused::NotAnswered { .. }), "{refused:?}");
    assert!(seen.lock().unwrap().is_empty());
}
