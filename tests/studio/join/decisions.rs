//! Questions of workers, decided at the studio.

use hooks_agent_builtin::people::{Gate, HumanInTheLoop};
use hooks_agent_core::message::{Approvers, Messages};
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_studio::{Studio, StudioWorker};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::join::support::{ByHand, entries, join, joined, until_ended};
use crate::support::{Browser, Clerk, Stream, clerk, open, until_resumed};

/// A clerk of a worker that asked, and the page of the studio that it joined.
struct Asked {
    browser: Browser,
    stream: Stream,
    clerk: Clerk,
    question: Value,
    _worker: StudioWorker,
}

async fn asked(gate: Option<Gate>) -> Asked {
    let browser = open(&joined()).await;
    let mut stream = browser.events(None).await;
    let studio = Studio::new();
    let clerk = clerk(&studio, |builder| match gate {
        Some(gate) => builder.hook(HumanInTheLoop::new().ask_with("pay", gate)),
        None => builder,
    });
    let worker = join(&studio.agent(clerk.agent.clone()), &browser);
    clerk.agent.call_with(CallOptions::new().user("ada"), "Pay").await.unwrap();
    let told = stream.until(|it| it.event == "approval").await.pop().unwrap();
    assert_eq!(told.data["state"], "waiting");
    let question = browser.question().await;
    assert_eq!(told.data["approval"], question);
    Asked { browser, stream, clerk, question, _worker: worker }
}

/// Decides as somebody.
async fn decide(asked: &Asked, user: &[(&str, &str)], mut body: Value) -> (StatusCode, Value) {
    body["digest"] = asked.question["digest"].clone();
    let path = format!("/api/approvals/{}", asked.question["id"].as_str().unwrap());
    post(&asked.browser, &path, user, &body).await
}

async fn post(
    browser: &Browser,
    path: &str,
    user: &[(&str, &str)],
    body: &Value,
) -> (StatusCode, Value) {
    let request = browser.request(Method::POST, path).json(body);
    let request = user.iter().fold(request, |it, (name, value)| it.header(*name, *value));
    let answer = request.send().await.unwrap();
    (answer.status(), answer.json().await.unwrap())
}

const BOB: &[(&str, &str)] = &[("x-user", "bob"), ("x-role", "manager")];

#[tokio::test]
async fn an_approval_resumes_the_call_of_the_worker() {
    let mut asked = asked(None).await;
    let id = asked.question["id"].clone();
    assert_eq!(asked.question["shown"], "{\n  \"euros\": 12\n}");
    let first = decide(&asked, BOB, json!({ "decision": "approve" })).await;
    assert_eq!(first, (StatusCode::OK, json!({ "id": id, "decision": "approve", "waits": 0 })));
    let list = asked.browser.json("/api/approvals").await;
    assert_eq!(list["waiting"], json!([]));
    let decided = &list["decided"][0];
    assert_eq!((&decided["by"], &decided["id"]), (&json!("bob"), &id));
    let is_told = |text: &str| text.contains("\"state\":\"decided\"");
    let has_ended = |text: &str| text.contains("\"reason\":\"model_stop\"");
    while !is_told(&asked.stream.text) || !has_ended(&asked.stream.text) {
        asked.stream.next().await.expect("both are told");
    }
    assert!(asked.stream.text.contains(&decided.to_string()));
    assert_eq!(asked.clerk.paid.take(), [json!({ "euros": 12 })]);
    let of_runs: Vec<_> =
        asked.browser.runs().await.iter().map(|run| run["state"].clone()).collect();
    assert_eq!(of_runs, ["finished", "resumed"]);
    let (status, second) = decide(&asked, BOB, json!({ "decision": "approve" })).await;
    assert_eq!((status, &second["error"]), (StatusCode::CONFLICT, &json!("decided")));
}

#[tokio::test]
async fn a_denial_and_an_edit_are_carried_out_by_the_worker() {
    let mut denied = asked(None).await;
    let (status, _) = decide(&denied, BOB, json!({ "decision": "deny", "reason": "no" })).await;
    assert_eq!(status, StatusCode::OK);
    until_resumed(&mut denied.stream).await;
    assert!(denied.clerk.paid.take().is_empty());
    assert_eq!(denied.browser.json("/api/approvals").await["decided"][0]["reason"], "no");

    let mut edited = asked(None).await;
    let wrong = json!({ "decision": "edit", "input": { "euros": "ten" } });
    let (status, refused) = decide(&edited, BOB, wrong).await;
    assert_eq!((status, &refused["error"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("invalid")));
    let edit = json!({ "decision": "edit", "input": { "euros": 10 } });
    assert_eq!(decide(&edited, BOB, edit).await.0, StatusCode::OK);
    until_resumed(&mut edited.stream).await;
    assert_eq!(edited.clerk.paid.take(), [json!({ "euros": 10 })]);
}

#[tokio::test]
async fn the_user_whom_the_studio_knows_decides_at_the_worker() {
    let gate = Gate::new().approvers(Approvers::roles(["manager"]).not_self());
    let mut asked = asked(Some(gate)).await;
    let approve = || json!({ "decision": "approve" });
    let refused = |(status, body): (StatusCode, Value)| (status.as_u16(), body["error"].clone());
    let nobody = refused(decide(&asked, &[], approve()).await);
    assert_eq!(nobody, (403, json!("signed_out")));
    for user in [
        &[("x-user", "bob")][..],
        &[("x-user", "bob"), ("x-role", "clerk")],
        &[("x-user", "ada"), ("x-role", "manager")],
    ] {
        assert_eq!(refused(decide(&asked, user, approve()).await), (403, json!("approver")));
    }
    let path = format!("/api/approvals/{}", asked.question["id"].as_str().unwrap());
    let stale = json!({ "decision": "approve", "digest": "0" });
    assert_eq!(refused(post(&asked.browser, &path, BOB, &stale).await), (409, json!("changed")));
    assert!(asked.clerk.paid.take().is_empty());

    assert_eq!(decide(&asked, BOB, approve()).await.0, StatusCode::OK);
    until_resumed(&mut asked.stream).await;
    assert_eq!(asked.clerk.paid.take().len(), 1);
    assert_eq!(asked.browser.json("/api/approvals").await["decided"][0]["by"], "bob");
}

#[tokio::test]
async fn a_studio_that_knows_nobody_does_not_decide_what_some_users_may() {
    let browser = open(&Studio::new().joined_by(crate::join::support::KEY)).await;
    let mut stream = browser.events(None).await;
    let studio = Studio::new();
    let gate = Gate::new().approvers(Approvers::roles(["studio", "manager"]));
    let clerk = clerk(&studio, |it| it.hook(HumanInTheLoop::new().ask_with("pay", gate)));
    let _worker = join(&studio.agent(clerk.agent.clone()), &browser);
    clerk.agent.call("Pay").await.unwrap();
    stream.until(|it| it.event == "approval").await;
    let question = browser.question().await;
    let (status, refused) = browser.decide(&question, json!({ "decision": "approve" })).await;
    assert_eq!((status, &refused["error"]), (StatusCode::FORBIDDEN, &json!("approver")));
}

#[tokio::test]
async fn an_approval_that_a_worker_remembers_is_listed_and_revoked() {
    let gate = Gate::new().remembered_by(Approvers::roles(["manager"]));
    let mut asked = asked(Some(gate)).await;
    let choice = asked.question["remember"].as_array().unwrap().len() - 1;
    let remember = json!({ "decision": "approve", "remember": choice });
    assert_eq!(decide(&asked, BOB, remember).await.0, StatusCode::OK, "{}", asked.question);
    until_resumed(&mut asked.stream).await;
    let remembered = asked.browser.json("/api/remembered").await["remembered"][0].clone();
    assert_eq!((&remembered["given_by"], &remembered["tool"]), (&json!("bob"), &json!("pay")));
    let path = format!("/api/remembered/{}/revoke", remembered["id"].as_str().unwrap());
    let revoke = async |path: &str| post(&asked.browser, path, BOB, &json!({})).await;
    assert_eq!(revoke(&path).await, (StatusCode::OK, json!({ "id": remembered["id"] })));
    assert_eq!(revoke("/api/remembered/x/revoke").await.0, StatusCode::NOT_FOUND);
    let reply = asked.clerk.agent.call_with(CallOptions::new().thread("two").user("ada"), "Pay");
    assert_eq!(reply.await.unwrap().pending().len(), 1, "it is asked again");
}

/// A question as a worker lists it.
fn question(id: &str) -> Value {
    json!({
        "id": id, "agent": "far", "thread": "default", "run": "6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5",
        "call_id": "1", "tool": "pay", "arguments": {}, "description": "", "digest": "d",
        "allowed": ["approve"], "askers": [], "since": 1,
    })
}

fn listed(waiting: &[Value]) -> Value {
    json!({ "questions": { "waiting": waiting, "decided": [], "remembered": [] } })
}

#[tokio::test]
async fn a_command_has_the_user_and_the_answer_of_the_worker_is_the_one_of_the_page() {
    let browser = open(&joined()).await;
    let worker = ByHand::new(&browser, "one").await;
    worker.send(listed(&[question("q")])).await;
    let approve = json!({ "decision": "approve", "digest": "d" });
    for (status, body, expected) in [
        (409, json!({ "error": "changed" }), (409, json!("changed"))),
        (302, json!({ "error": "changed" }), (503, json!("worker"))),
        (200, json!("text"), (503, json!("worker"))),
    ] {
        let deciding = post(&browser, "/api/approvals/q", BOB, &approve);
        let answering = async {
            let answer = worker.send(json!({ "waits": true })).await;
            let command = &answer["commands"][0];
            let by = json!({
                "id": "bob", "roles": ["manager"], "attributes": { "region": "eu" }, "is_known": true,
            });
            let decide = json!({ "id": "q", "request": approve, "by": by });
            assert_eq!(command["order"]["decide"], decide);
            let outcome = json!({ "command": command["number"], "status": status, "body": body });
            worker.send(json!({ "outcomes": [outcome] })).await;
        };
        let ((status, body), ()) = tokio::join!(deciding, answering);
        assert_eq!((status.as_u16(), body["error"].clone()), expected);
    }
    // A worker that left cannot be asked.
    worker.send(json!({ "leaves": true })).await;
    assert_eq!(browser.json("/api/approvals").await["waiting"], json!([]));
    let (status, refused) = post(&browser, "/api/approvals/q", BOB, &approve).await;
    assert_eq!((status, &refused["error"]), (StatusCode::CONFLICT, &json!("unknown")));
    // It is back.
    worker.send(json!({})).await;
    assert_eq!(browser.question().await["id"], "q");
}

#[tokio::test]
async fn lists_that_are_none_and_questions_of_others_are_left_out() {
    let browser = open(&joined()).await;
    let (one, two) = (ByHand::new(&browser, "one").await, ByHand::new(&browser, "two").await);
    let mut no_text = question("b");
    no_text["tool"] = json!({ "a": 1 });
    let mut no_list = question("c");
    no_list["askers"] = json!("x");
    one.send(listed(&[question("a"), no_text, no_list, json!(7)])).await;
    let mut stranger = question("a");
    stranger["tool"] = "other".into();
    two.send(listed(&[stranger, question("d")])).await;
    let waiting = browser.json("/api/approvals").await["waiting"].clone();
    assert_eq!(waiting, json!([question("a"), question("d")]));
    let large = json!("x".repeat(600 << 10));
    let with = |id: &str| {
        let mut question = question(id);
        question["arguments"] = large.clone();
        question
    };
    two.send(listed(&[with("e"), with("f")])).await;
    let waiting = browser.json("/api/approvals").await["waiting"].clone();
    assert_eq!(waiting.as_array().unwrap().len(), 2, "one of them is too much");
}

#[tokio::test]
async fn a_studio_that_shows_no_content_keeps_none_of_a_worker_either() {
    let browser = open(&joined().show_content(false)).await;
    let mut stream = browser.events(None).await;
    let studio = Studio::new().show_errors(true);
    let clerk = clerk(&studio, |builder| builder);
    let worker = join(&studio.clone().agent(clerk.agent.clone()), &browser);
    clerk.agent.call("Pay the secret baker").await.unwrap();
    stream.until(|it| it.event == "approval").await;
    let down = ScriptedModel::new("down", |_| ModelError::status("down", 500));
    let broken = ReActAgent::builder("broken").model(down);
    let changes = on(|event: &mut PreCall<'_>| {
        let messages: Messages = [Msg::user("another secret")].into_iter().collect();
        event.set_messages(messages);
    });
    let broken = broken.hook(changes).hook(studio.hook()).build().unwrap();
    broken.call("Go").await.unwrap_err();
    let runs = until_ended(&browser, &mut stream, 2).await;

    let question = browser.question().await;
    assert_eq!((&question["hidden"], &question["tool"]), (&json!(true), &json!("pay")));
    let mut seen = format!("{runs:?}{question}");
    for run in &runs {
        for entry in entries(&browser, &run["run"]).await {
            seen += &entry.to_string();
        }
    }
    for text in ["secret", "baker", "euros", "Go"] {
        assert!(!seen.contains(text) && !stream.text.contains(text), "{text}: {seen}");
    }
    assert!(seen.contains("model_failed") && seen.contains("\"kind\":"), "{seen}");
    let asked = Asked { browser, stream, clerk, question, _worker: worker };
    for blind in
        [json!({ "decision": "approve" }), json!({ "decision": "edit", "input": { "euros": 1 } })]
    {
        let (status, refused) = decide(&asked, BOB, blind).await;
        assert_eq!((status.as_u16(), &refused["error"]), (422, &json!("invalid")));
    }
    let denied = decide(&asked, BOB, json!({ "decision": "deny" })).await;
    assert_eq!(denied.0, StatusCode::OK);
    assert!(asked.clerk.paid.take().is_empty());
}
