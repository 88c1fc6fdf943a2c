//! Questions of `HumanInTheLoop`.

use std::time::Duration;

use hooks_agent_ag_ui::{AgUi, AgUiError, Caller, Refused};
use hooks_agent_builtin::people::{Gate, HumanInTheLoop};
use hooks_agent_core::call::User;
use hooks_agent_core::message::{Approvers, DecisionKind, Note};
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Filter, Store};
use hooks_agent_sql::store::SqliteStore;
use serde_json::{Value, json};

use crate::client::{Client, all, one, outcome};
use crate::events::stream::{blocks_then_done, call};
use crate::waiting::approvals::{Seen, approve, deny, ids, pay, two_payments};

#[tokio::test]
async fn questions_of_human_in_the_loop_are_decided_in_the_name_of_the_user() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("agents.db")).await.unwrap();
    let seen = Seen::default();
    let build = || {
        let hook = HumanInTheLoop::new().ask("pay");
        let agent = ReActAgent::builder("bot").model(two_payments()).tool(pay(&seen)).hook(hook);
        AgUi::new(agent.store(store.clone()).build().unwrap())
    };
    let input = |resume: Value| {
        let message = json!({ "id": "u", "role": "user", "content": "pay" });
        let input = json!({ "threadId": "t", "runId": "r", "protocolVersion": "1.0",
            "messages": [message], "resume": resume });
        serde_json::from_value(input).unwrap()
    };
    let caller = || Caller::new("ada").user("ada@example.org");
    let events = crate::http::collect(build().run(caller(), input(json!([]))).await.unwrap()).await;
    assert_eq!(ids(&events), ["int-c1", "int-c2"]);
    // Another process goes on.
    let other = build();
    for stranger in [Caller::new("ada").user("eve@example.org"), Caller::new("ada")] {
        for resume in [json!([]), json!([approve("int-c1"), approve("int-c2")])] {
            let refused = other.run(stranger.clone(), input(resume)).await.unwrap_err();
            assert_eq!(refused, Refused::Forbidden);
        }
    }
    let refused = other.run(caller(), input(json!([approve("int-c1")]))).await.unwrap_err();
    assert_eq!(refused, Refused::NotAnswered { ids: vec!["int-c2".to_owned()] });
    let run = other.run(caller(), input(json!([approve("int-c1"), deny("int-c2", "too much")])));
    let events = crate::http::collect(run.await.unwrap()).await;
    let results = all(&events, "TOOL_CALL_RESULT");
    assert_eq!(results[0]["content"], "paid");
    let rejected = "User rejected the tool call for `pay` with reason: too much";
    assert_eq!(results[1]["content"], rejected);
    assert_eq!(*seen.lock().unwrap(), [json!({ "euros": 1 })]);
    let threads = store.threads(Filter::agent("bot").user("ada@example.org")).await.unwrap();
    assert_eq!(threads.len(), 1);
}

#[tokio::test]
async fn a_decision_that_the_gate_does_not_allow_is_refused_before_the_run() {
    let seen = Seen::default();
    let gate = Gate::new().allow([DecisionKind::Approve]).unwrap();
    let hook = HumanInTheLoop::new().ask_with("pay", gate);
    let agent = ReActAgent::builder("bot").model(two_payments()).tool(pay(&seen)).hook(hook);
    let mut client = Client::new(agent.build().unwrap());
    client.say("pay").await;
    let resume = json!({ "resume": [approve("int-c1"), deny("int-c2", "no")] });
    let refused = client.send(resume).await.unwrap_err();
    assert_eq!((refused.status(), &refused.body()["error"]), (409, &json!("decision_not_allowed")));
    assert!(seen.lock().unwrap().is_empty());
    let cancel = json!({ "interruptId": "int-c2", "status": "cancelled" });
    let events = client.resume(json!([approve("int-c1"), cancel])).await;
    assert_eq!(outcome(&events), &json!({ "type": "success" }));
    assert_eq!(seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn an_expired_interrupt_can_be_cancelled_but_not_answered() {
    let seen = Seen::default();
    let gate = Gate::new().expires_after(Duration::ZERO);
    let hook = HumanInTheLoop::new().ask_with("pay", gate);
    let model = blocks_then_done(vec![call("c1", "pay", json!({ "euros": 1 }))]);
    let agent = ReActAgent::builder("bot").model(model).tool(pay(&seen)).hook(hook);
    let mut client = Client::new(agent.build().unwrap());
    let events = client.say("pay").await;
    let expires = outcome(&events)["interrupts"][0]["expiresAt"].as_str().unwrap();
    assert!(expires.ends_with('Z') && expires.contains('T'), "{expires}");
    let refused = client.send(json!({ "resume": [approve("int-c1")] })).await.unwrap_err();
    assert_eq!(refused, Refused::Expired { ids: vec!["int-c1".to_owned()] });
    let cancel = json!({ "interruptId": "int-c1", "status": "cancelled" });
    let events = client.resume(json!([cancel])).await;
    let result = one(&events, "TOOL_CALL_RESULT")["content"].as_str().unwrap();
    assert!(result.contains("no decision in time"), "{result}");
    assert!(seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_question_of_a_gate_is_held_and_one_of_a_tool_is_not() {
    let held = |reply: &Msg| {
        let question = reply.pending()[0].question.as_deref();
        question.is_some_and(hooks_agent_core::message::Question::is_held)
    };
    let seen = Seen::default();
    let hook = HumanInTheLoop::new().ask("pay");
    let agent = ReActAgent::builder("bot").model(two_payments()).tool(pay(&seen)).hook(hook);
    assert!(held(&agent.build().unwrap().call("pay").await.unwrap()));
    let tool = pay(&seen).permission(|_| Permission::Ask);
    let agent = ReActAgent::builder("bot").model(two_payments()).tool(tool).build().unwrap();
    assert!(!held(&agent.call("pay").await.unwrap()));
}

#[tokio::test]
async fn a_thread_of_another_process_is_read_from_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("agents.db")).await.unwrap();
    let build = || {
        let model = ScriptedModel::new("m", |_| "hello");
        ReActAgent::builder("bot").model(model).store(store.clone()).build().unwrap()
    };
    let (one, other) = (build(), build());
    one.call_with(CallOptions::new().thread("t"), "hi").await.unwrap();
    let memory = other.read_thread("t").await.unwrap().unwrap();
    assert_eq!(memory.messages().len(), 2);
    one.call_with(CallOptions::new().thread("t"), "more").await.unwrap();
    other.read_thread("t").await.unwrap();
    assert_eq!(memory.messages().len(), 4);
    assert!(other.read_thread("new").await.unwrap().is_none());
    assert!(other.read_thread(CallContext::DEFAULT_THREAD).await.unwrap().is_none());
}

#[tokio::test]
async fn who_answers_is_known_by_the_login_and_by_nothing_that_a_client_writes() {
    let seen = Seen::default();
    let gate = Gate::new().approvers(Approvers::roles(["manager"]));
    let hook = HumanInTheLoop::new().ask_with("pay", gate);
    let model = blocks_then_done(vec![call("c1", "pay", json!({ "euros": 1 }))]);
    let tell = on(|event: &mut PreCall<'_>| {
        event.context().tell_people(|_, _| vec![Note::new("euros", "stand in a mail")]);
    });
    let agent = ReActAgent::builder("bot").model(model).tool(pay(&seen)).hook(hook).hook(tell);
    let agent = std::sync::Arc::new(agent.build().unwrap());

    // A server that knows nobody does not start.
    let error = AgUi::new(agent.clone()).into_router().unwrap_err();
    assert!(matches!(error, AgUiError::NobodyDecides { .. }), "{error:?}");
    assert!(AgUi::new(agent.clone()).decided_elsewhere(true).into_router().is_ok());
    let known = AgUi::new(agent.clone()).authenticate(|_| Ok(Caller::default()));
    assert!(known.into_router().is_ok());

    let server = AgUi::new(agent);
    let input = |resume: Value| {
        let message = json!({ "id": "u", "role": "user", "content": "pay" });
        let manager = json!({ "user": "ada", "roles": ["manager"], "by": "ada" });
        let input = json!({ "threadId": "t", "runId": "r", "protocolVersion": "1.0",
            "messages": [message], "resume": resume, "state": manager,
            "context": [{ "description": "user", "value": manager.to_string() }],
            "forwardedProps": manager });
        serde_json::from_value(input).unwrap()
    };
    let as_clerk = || Caller::new("ada").user("ada");
    let run = server.run(as_clerk(), input(json!([]))).await.unwrap();
    let events = crate::http::collect(run).await;
    let askers = &outcome(&events)["interrupts"][0]["metadata"]["hooks"]["askers"];
    assert_eq!(askers[0]["hook"], "HumanInTheLoop");
    assert_eq!(askers[0]["approvers"], json!({ "roles": ["manager"] }));
    let notes = &outcome(&events)["interrupts"][0]["metadata"]["hooks"]["notes"];
    assert_eq!(notes, &json!([{ "argument": "euros", "text": "stand in a mail" }]));
    let mut approval = approve("int-c1");
    approval["payload"]["by"] = json!({ "id": "ada", "roles": ["manager"] });
    for resume in [json!([approval]), json!([deny("int-c1", "no")])] {
        let refused = server.run(as_clerk(), input(resume)).await.unwrap_err();
        assert!(
            matches!(&refused, Refused::NotAllowed(text) if text.contains("manager")),
            "{refused}"
        );
    }
    assert!(seen.lock().unwrap().is_empty());
    let as_manager = Caller::new("ada").user(User::new("ada").with_role("manager"));
    let run = server.run(as_manager, input(json!([approve("int-c1")]))).await.unwrap();
    assert_eq!(outcome(&crate::http::collect(run).await), &json!({ "type": "success" }));
    assert_eq!(seen.lock().unwrap().len(), 1);
}
