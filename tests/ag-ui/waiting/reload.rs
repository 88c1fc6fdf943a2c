//! Pages that are loaded anew, and second devices.

use std::sync::Arc;

use hooks_agent_ag_ui::{AgUi, Refused};
use hooks_agent_core::prelude::*;
use hooks_agent_sql::store::SqliteStore;
use serde_json::json;

use crate::client::{Client, all, one, outcome, types};
use crate::events::stream::{blocks_then_done, call};
use crate::waiting::approvals::{Seen, approve, deny, ids, pay, two_payments};
use crate::waiting::deep::deep;

fn asking(seen: &Seen) -> Arc<ReActAgent> {
    let tool = pay(seen).permission(|_| Permission::Ask);
    let agent = ReActAgent::builder("bot").model(two_payments()).tool(tool);
    Arc::new(agent.parallel_tools(true).build().unwrap())
}

#[tokio::test]
async fn a_page_that_is_loaded_anew_gets_the_conversation_and_what_waits() {
    let seen = Seen::default();
    let agent = asking(&seen);
    let mut first = Client::of(AgUi::new(agent.clone()));
    let asked = first.say("pay").await;
    // It has nothing, or what the page before it had.
    for messages in [Vec::new(), first.messages.clone()] {
        let mut again = Client::of(AgUi::new(agent.clone()));
        again.messages = messages;
        let events = again.send(json!({ "state": { "page": 3 } })).await.unwrap();
        let expected = ["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"];
        assert_eq!(types(&events), expected);
        assert_eq!(one(&events, "STATE_SNAPSHOT")["snapshot"], json!({ "page": 3 }));
        assert_eq!(outcome(&events), outcome(&asked), "the same questions");
        assert_eq!(again.messages, first.messages);
    }
    assert!(seen.lock().unwrap().is_empty());
    // What it answers is answered.
    let mut again = Client::of(AgUi::new(agent));
    again.send(json!({})).await.unwrap();
    let events = again.resume(json!([approve("int-c1"), deny("int-c2", "no")])).await;
    assert_eq!(outcome(&events), &json!({ "type": "success" }));
    assert_eq!(*seen.lock().unwrap(), [json!({ "euros": 1 })]);
}

#[tokio::test]
async fn something_new_still_needs_the_answers() {
    let agent = asking(&Seen::default());
    Client::of(AgUi::new(agent.clone())).say("pay").await;
    let mut again = Client::of(AgUi::new(agent));
    again.send(json!({})).await.unwrap();
    again.push_user("and now?");
    let open = vec!["int-c1".to_owned(), "int-c2".to_owned()];
    let refused = again.send(json!({})).await.unwrap_err();
    assert_eq!(refused, Refused::NotAnswered { ids: open });
    let refused = again.send(json!({ "resume": [approve("int-other")] })).await.unwrap_err();
    assert!(matches!(refused, Refused::NotAnswered { .. }), "{refused:?}");
}

#[tokio::test]
async fn a_second_device_answers_what_sub_agents_ask() {
    let seen = Seen::default();
    let agent = Arc::new(deep(&seen, true));
    Client::of(AgUi::new(agent.clone())).say("pay").await;
    let mut second = Client::of(AgUi::new(agent));
    let events = second.send(json!({})).await.unwrap();
    assert_eq!(ids(&events), ["int-h/d/c1", "int-h/d/c2"]);
    let hooks = &outcome(&events)["interrupts"][1]["metadata"]["hooks"];
    assert_eq!((&hooks["tool"], &hooks["input"]), (&json!("pay"), &json!({ "euros": 2 })));
    assert_eq!(hooks["agents"], json!(["clerk", "payer"]));
    let events = second.resume(json!([approve("int-h/d/c1"), deny("int-h/d/c2", "no")])).await;
    assert_eq!(outcome(&events), &json!({ "type": "success" }));
    assert_eq!(*seen.lock().unwrap(), [json!({ "euros": 1 })]);
}

#[tokio::test]
async fn a_page_that_is_loaded_anew_knows_which_of_its_tools_is_to_run() {
    let model = blocks_then_done(vec![call("c1", "confetti", json!({}))]);
    let agent = Arc::new(ReActAgent::builder("bot").model(model).build().unwrap());
    let tools = json!([{ "name": "confetti", "description": "Shows.", "parameters": { "type": "object" } }]);
    let mut first = Client::of(AgUi::new(agent.clone()));
    first.tools = tools.clone();
    let asked = first.say("celebrate").await;
    let mut again = Client::of(AgUi::new(agent));
    again.tools = tools;
    let events = again.send(json!({})).await.unwrap();
    assert_eq!(types(&events), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    assert_eq!(outcome(&events), outcome(&asked));
    assert_eq!(again.messages, first.messages);
    let result = json!({ "id": "r", "role": "tool", "toolCallId": "c1", "content": "shown" });
    again.messages.push(result);
    let events = again.send(json!({})).await.unwrap();
    assert_eq!(outcome(&events), &json!({ "type": "success" }));
}

/// An agent whose guard answers messages about secrets, and the number of messages that the model read.
fn guarded(store: Option<SqliteStore>) -> Arc<ReActAgent> {
    let guard = on(|event: &mut PreCall<'_>| {
        let is_secret = event.messages().iter().any(|msg| msg.text().contains("secret"));
        if is_secret { event.answer(Msg::assistant("bot", "not here")) } else { Flow::Continue }
    });
    let model = ScriptedModel::new("count", |request| request.messages.len().to_string());
    let builder = ReActAgent::builder("bot").model(model).hook(guard);
    Arc::new(match store {
        Some(store) => builder.store(store).build().unwrap(),
        None => builder.build().unwrap(),
    })
}

fn texts(client: &Client) -> Vec<&str> {
    client.messages.iter().map(|message| message["content"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_answer_of_a_hook_is_there_after_a_reload() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("agents.db")).await.unwrap();
    for store in [None, Some(store)] {
        let agent = guarded(store);
        let mut client = Client::of(AgUi::new(agent.clone()));
        // First, and in mid-conversation.
        client.say("a secret").await;
        client.say("hi").await;
        client.say("another secret").await;
        assert_eq!(
            texts(&client),
            ["a secret", "not here", "hi", "1", "another secret", "not here"]
        );
        // What the page has stays as it is.
        let before = client.messages.clone();
        client.send(json!({})).await.unwrap();
        assert_eq!(client.messages, before);
        // The server keeps what it answered, and not what was not to be remembered.
        let mut again = Client::of(AgUi::new(agent.clone()));
        again.send(json!({})).await.unwrap();
        assert_eq!(texts(&again), ["not here", "hi", "1", "not here"]);
        let thread = agent.read_thread("ada/t").await.unwrap().unwrap();
        let kept = format!("{:?} {:?}", thread.messages(), thread.values());
        assert!(!kept.contains("secret"), "{kept}");
        let bye = json!({ "id": "bye", "role": "user", "content": "bye" });
        again.messages.push(bye);
        again.send(json!({})).await.unwrap();
        assert_eq!(texts(&again)[4..], ["bye", "3"]);
    }
}

#[tokio::test]
async fn a_message_that_a_hook_answered_is_not_sent_again() {
    let mut client = Client::of(AgUi::new(guarded(None)));
    client.say("a secret").await;
    let events = client.say("hi").await;
    assert_eq!(all(&events, "TEXT_MESSAGE_CONTENT")[0]["delta"], "1", "{events:#?}");
    client.say("another secret").await;
    client.say("bye").await;
    assert_eq!(texts(&client).last().unwrap(), &"3");
}

#[tokio::test]
async fn an_answer_in_place_of_an_error_is_there_after_a_reload() {
    let recover = on(|event: &mut ErrorEvent<'_>| event.recover(Msg::assistant("bot", "later")));
    let fail = on(|_: &mut PostCall<'_>| -> HookResult { Err("the audit failed".into()) });
    let model = ScriptedModel::new("m", |_| "hello");
    let agent = ReActAgent::builder("bot").model(model).hook(recover).hook(fail);
    let agent = Arc::new(agent.build().unwrap());
    let mut client = Client::of(AgUi::new(agent.clone()));
    client.say("hi").await;
    assert_eq!(texts(&client), ["hi", "hello", "later"]);
    let mut again = Client::of(AgUi::new(agent));
    again.send(json!({})).await.unwrap();
    assert_eq!(again.messages, client.messages);
}

#[tokio::test]
async fn an_answer_in_place_of_that_of_the_model_is_there_once() {
    let recover = on(|event: &mut ErrorEvent<'_>| match event.phase() {
        hooks_agent_core::event::ErrorPhase::Reasoning => {
            event.recover(Msg::assistant("bot", "later"))
        }
        _ => Flow::Continue,
    });
    let busy = hooks_agent_core::model::ModelError::status("m", 503);
    let model = ScriptedModel::new("m", move |_| ScriptedAnswer::from(busy.clone()));
    let agent = ReActAgent::builder("bot").model(model).hook(recover).build().unwrap();
    let agent = Arc::new(agent);
    let mut client = Client::of(AgUi::new(agent.clone()));
    client.say("hi").await;
    let mut again = Client::of(AgUi::new(agent));
    again.send(json!({})).await.unwrap();
    assert_eq!(texts(&again), ["hi", "later"]);
}

#[tokio::test]
async fn an_answer_goes_with_the_message_that_it_stands_behind() {
    let agent = guarded(None);
    let mut client = Client::of(AgUi::new(agent.clone()));
    client.say("hi").await;
    client.say("a secret").await;
    let thread = agent.read_thread("ada/t").await.unwrap().unwrap();
    assert!(format!("{:?}", thread.values()).contains("not here"));
    // A summary takes the place of the conversation.
    thread.replace(vec![Msg::user("summary"), Msg::assistant("bot", "hello")]);
    client.say("bye").await;
    assert!(!format!("{:?}", thread.values()).contains("not here"));
    let mut again = Client::of(AgUi::new(agent));
    again.send(json!({})).await.unwrap();
    assert!(!texts(&again).contains(&"not here"), "{:?}", texts(&again));
}
