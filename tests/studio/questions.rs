//! Several questions, questions that expired, and how they are shown.

use std::sync::Arc;
use std::time::Duration;

use hooks_agent_builtin::people::{Gate, HumanInTheLoop};
use hooks_agent_core::call::CallContext;
use hooks_agent_core::call::User;
use hooks_agent_core::message::{Approvers, Note, Question};
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Decision, Store, Verdict};
use hooks_agent_sql::store::SqliteStore;
use hooks_agent_studio::{Studio, StudioError};
use hooks_fixtures::Records;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::{Clerk, asked, clerk, open, until_resumed};

/// An agent that asks about two payments at once.
fn asks_twice(studio: &Studio, paid: &Arc<Records<Value>>) -> Arc<ReActAgent> {
    let model = ScriptedModel::new("both", |request| -> ScriptedAnswer {
        if request.messages.last().unwrap().tool_results().next().is_some() {
            return "Done.".into();
        }
        let call = |id: u64| ToolUse::new(format!("call-{id}"), "pay", json!({ "euros": id }));
        vec![ContentBlock::ToolUse(call(1)), ContentBlock::ToolUse(call(2))].into()
    });
    let list = paid.clone();
    let pay = FunctionTool::new("pay", "Pays.", move |payment: Value| {
        list.push(payment);
        async { "paid" }
    });
    let builder = ReActAgent::builder("clerk").model(model).parallel_tools(true);
    let builder = builder.tool(pay.permission(|_| Permission::Ask)).hook(studio.hook());
    Arc::new(builder.build().unwrap())
}

#[tokio::test]
async fn two_questions_decided_at_once_run_each_tool_once_and_ask_the_model_once() {
    for _ in 0..10 {
        let (studio, paid) = (Studio::new(), Arc::new(Records::new()));
        let agent = asks_twice(&studio, &paid);
        let browser = open(&studio.clone().agent(agent.clone())).await;
        let mut stream = browser.events(None).await;
        agent.call("Pay both").await.unwrap();
        let waiting = browser.json("/api/approvals").await["waiting"].clone();
        assert_eq!(waiting.as_array().unwrap().len(), 2);

        let approve = |at: usize| browser.decide(&waiting[at], json!({ "decision": "approve" }));
        let (one, two) = futures::join!(approve(0), approve(1));
        assert_eq!((one.0, two.0), (StatusCode::OK, StatusCode::OK));
        until_resumed(&mut stream).await;

        let mut paid = paid.take();
        paid.sort_by_key(|payment| payment["euros"].as_u64());
        assert_eq!(paid, [json!({ "euros": 1 }), json!({ "euros": 2 })]);
        let history = agent.threads().memory("default").unwrap().messages();
        let answers = history.iter().filter(|msg| msg.role == Role::Assistant).count();
        assert_eq!(answers, 2, "the model is not asked again");
        assert_eq!(browser.json("/api/approvals").await["waiting"], json!([]));
    }
}

#[tokio::test]
async fn a_question_that_expired_is_not_decided() {
    let studio = Studio::new();
    let clerk = clerk(&studio, |builder| {
        let ask = on(|event: &mut PostReasoning<'_>| -> HookResult<Flow> {
            let ids = event.message().tool_uses().map(|call| call.id.clone()).collect::<Vec<_>>();
            let question = || Question::new("Pay?").expires_after(Duration::ZERO);
            if ids.is_empty() {
                return Ok(Flow::Continue);
            }
            Ok(event.ask(ids.into_iter().map(|id| (id, question())))?)
        });
        builder.hook(ask.with_priority(1))
    });
    let browser = open(&studio.clone().agent(clerk.agent.clone())).await;
    clerk.agent.call("Pay").await.unwrap();

    let question = browser.question().await;
    let (status, refused) = browser.decide(&question, json!({ "decision": "approve" })).await;

    assert_eq!((status, &refused["error"]), (StatusCode::CONFLICT, &json!("expired")));
    assert!(clerk.paid.take().is_empty());
}

#[tokio::test]
async fn what_is_not_shown_is_denied_but_not_approved() {
    let studio = Studio::new().show_content(false);
    let (browser, mut stream, clerk) = asked(&studio).await;
    let question = browser.question().await;
    assert_eq!((&question["arguments"], &question["allowed"]), (&Value::Null, &json!(["reject"])));

    let (status, _) = browser.decide(&question, json!({ "decision": "approve" })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let (status, _) = browser.decide(&question, json!({ "decision": "deny" })).await;
    assert_eq!(status, StatusCode::OK);
    until_resumed(&mut stream).await;
    assert!(clerk.paid.take().is_empty());
}

#[tokio::test]
async fn what_hooks_know_of_the_arguments_is_shown_with_them_alone() {
    let tell = || {
        on(|event: &mut PreCall<'_>| {
            let note = |_: &CallContext, _: &ToolUse| vec![Note::new("euros", "stand in a mail")];
            event.context().tell_people(note);
        })
    };
    for is_shown in [true, false] {
        let studio = Studio::new().show_content(is_shown);
        let clerk = clerk(&studio, |builder| builder.hook(tell()));
        let browser = open(&studio.clone().agent(clerk.agent.clone())).await;
        clerk.agent.call("Pay").await.unwrap();
        let question = browser.question().await;
        let notes = json!([{ "argument": "euros", "text": "stand in a mail" }]);
        assert_eq!(question["notes"], if is_shown { notes } else { Value::Null });
        assert_eq!(question.to_string().contains("mail"), is_shown);
    }
}

#[tokio::test]
async fn who_decided_is_recorded_in_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("agents.db")).await.unwrap();
    let studio = Studio::new().decided_by("eve");
    let clerk = clerk(&studio, |builder| builder.store(store.clone()));
    // An agent of this name that is not resumed here.
    let browser = open(&studio.clone().agent(clerk.agent.clone())).await;
    let mut stream = browser.events(None).await;
    clerk.agent.call("Pay").await.unwrap();
    let question = browser.question().await;
    browser.decide(&question, json!({ "decision": "approve" })).await;
    until_resumed(&mut stream).await;

    let id: Arc<str> = question["id"].as_str().unwrap().into();
    let again = store.decide(vec![Verdict::new(id, Decision::Approve)]).await.unwrap_err();
    assert!(again.to_string().contains("decided by eve"), "{again}");
    let decided = browser.json("/api/approvals").await["decided"][0].clone();
    assert_eq!((&decided["by"], &decided["thread"]), (&json!("eve"), &json!("default")));
}

/// A clerk whose payments two hooks of one name ask about: everybody may answer the first, and a manager who
/// did not ask for the payment the second.
async fn guarded(studio: &Studio) -> Clerk {
    let gate = Gate::new().approvers(Approvers::roles(["manager"]).not_self());
    let clerk = clerk(studio, |builder| builder.hook(HumanInTheLoop::new().ask_with("pay", gate)));
    let as_ada = CallOptions::new().user("ada");
    clerk.agent.call_with(as_ada, "Pay").await.unwrap();
    clerk
}

#[tokio::test]
async fn a_studio_that_knows_nobody_does_not_start_where_some_users_alone_decide() {
    let studio = Studio::new();
    let clerk = guarded(&studio).await;
    let studio = studio.agent(clerk.agent.clone());
    let refused = studio.bind("127.0.0.1:0").await.unwrap_err();
    let named = |error: &StudioError| matches!(error, StudioError::NobodyDecides { agent, hook } if agent == "clerk" && hook == "HumanInTheLoop");
    assert!(named(&refused), "{refused}");
    // It is said that they are decided elsewhere: they are shown, and no decision is taken.
    let browser = open(&studio.clone().decided_elsewhere(true)).await;
    let question = browser.question().await;
    assert_eq!(
        question["askers"][1]["approvers"],
        json!({ "roles": ["manager"], "not_self": true })
    );
    let (status, refused) = browser.decide(&question, json!({ "decision": "approve" })).await;
    assert_eq!((status, &refused["error"]), (StatusCode::FORBIDDEN, &json!("approver")));
    assert!(clerk.paid.take().is_empty());
}

#[tokio::test]
async fn who_decides_is_in_the_head_of_the_request_and_never_in_its_body() {
    let studio = Studio::new().authenticate(|head| {
        let name = head.headers.get("x-user")?.to_str().ok()?.to_owned();
        Some(User::new(name).with_role("manager"))
    });
    let clerk = guarded(&studio).await;
    let browser = open(&studio.clone().agent(clerk.agent.clone())).await;
    let mut stream = browser.events(None).await;
    let question = browser.question().await;
    let path = format!("/api/approvals/{}", question["id"].as_str().unwrap());
    let digest = &question["digest"];
    let send = async |user: Option<&str>, body: serde_json::Value| {
        let request = browser.request(reqwest::Method::POST, &path).json(&body);
        let request = user.into_iter().fold(request, |it, user| it.header("x-user", user));
        let response = request.send().await.unwrap();
        (response.status(), response.json::<serde_json::Value>().await.unwrap())
    };
    let approve = json!({ "decision": "approve", "digest": digest });
    let (status, refused) = send(None, approve.clone()).await;
    assert_eq!((status, &refused["error"]), (StatusCode::FORBIDDEN, &json!("signed_out")));
    let (status, refused) = send(Some("ada"), approve.clone()).await;
    assert_eq!((status, &refused["error"]), (StatusCode::FORBIDDEN, &json!("approver")));
    let named = json!({ "decision": "approve", "digest": digest, "by": "bob" });
    assert_eq!(send(Some("ada"), named).await.0, StatusCode::BAD_REQUEST);
    assert!(clerk.paid.take().is_empty());
    assert_eq!(send(Some("bob"), approve).await.0, StatusCode::OK);
    until_resumed(&mut stream).await;
    assert_eq!(clerk.paid.take().len(), 1);
    let decided = browser.json("/api/approvals").await["decided"][0].clone();
    assert_eq!(decided["by"], "bob");
    // What a person writes is of this person, so the thread of ada takes nothing.
    assert_eq!(browser.runs().await.last().unwrap()["user"], "ada");
}

#[tokio::test]
async fn an_approval_is_remembered_as_the_server_offers_it_and_revoked() {
    let studio = Studio::new().authenticate(|head| {
        let name = head.headers.get("x-user")?.to_str().ok()?.to_owned();
        let role = if name == "eve" { "lead" } else { "clerk" };
        Some(User::new(name).with_role(role))
    });
    let gate = Gate::new().remembered_by(Approvers::roles(["lead"]));
    let clerk = asks_by_hook(&studio, gate);
    let browser = open(&studio.clone().agent(clerk.clone())).await;
    let mut stream = browser.events(None).await;
    let on = |thread: &str| CallOptions::new().user("ada").thread(thread);
    clerk.call_with(on("one"), "Pay").await.unwrap();
    let question = browser.question().await;
    assert_eq!(
        question["remember"],
        json!([
            "on this thread: exactly these arguments; 10 calls",
            "on this thread: euros at most 12; 10 calls",
            "for this user: exactly these arguments; 10 calls",
            "for this user: euros at most 12; 10 calls",
            "for everybody: exactly these arguments; 10 calls",
            "for everybody: euros at most 12; 10 calls",
        ])
    );
    let path = format!("/api/approvals/{}", question["id"].as_str().unwrap());
    let send = async |path: &str, user: &str, body: Value| {
        let request = browser.request(reqwest::Method::POST, path).json(&body);
        let response = request.header("x-user", user).send().await.unwrap();
        (response.status(), response.json::<Value>().await.unwrap())
    };
    let approve = |more: Value| {
        let mut body = json!({ "decision": "approve", "digest": question["digest"] });
        body["remember"] = more;
        body
    };
    // A rule in the body is none, a number that was not offered neither, and a role is needed.
    let rule = json!({ "reach": "always", "rule": { "uses": 1000 } });
    assert_eq!(send(&path, "eve", approve(rule)).await.0, StatusCode::BAD_REQUEST);
    let (status, refused) = send(&path, "eve", approve(json!(6))).await;
    assert_eq!((status, &refused["error"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("invalid")));
    let (status, refused) = send(&path, "bob", approve(json!(3))).await;
    assert_eq!((status, &refused["error"]), (StatusCode::FORBIDDEN, &json!("approver")));
    assert_eq!(browser.json("/api/remembered").await, json!({ "remembered": [] }));
    assert_eq!(send(&path, "eve", approve(json!(3))).await.0, StatusCode::OK);
    until_resumed(&mut stream).await;

    assert_eq!(clerk.call_with(on("two"), "Pay").await.unwrap().text(), "Done.");
    let remembered = browser.json("/api/remembered").await["remembered"][0].clone();
    for (key, value) in [
        ("agent", json!("clerk")),
        ("tool", json!("pay")),
        ("reach", json!("for this user")),
        ("user", json!("ada")),
        ("rule", json!("euros at most 12; 10 calls")),
        ("given_by", json!("eve")),
        ("uses", json!(1)),
    ] {
        assert_eq!(remembered[key], value, "{key}");
    }
    // The run says that nobody was asked, and who approved.
    let tree = browser.newest().await;
    let entries = tree["entries"].as_array().unwrap();
    let said = entries.iter().find(|it| it["type"] == "permission_remembered").unwrap();
    assert_eq!(
        (&said["data"]["by"], &said["data"]["approval"]),
        (&json!("eve"), &remembered["id"])
    );

    let path = format!("/api/remembered/{}/revoke", remembered["id"].as_str().unwrap());
    assert_eq!(send(&path, "bob", json!({})).await.0, StatusCode::OK);
    assert_eq!(send(&path, "bob", json!({})).await.0, StatusCode::NOT_FOUND);
    let reply = clerk.call_with(on("three"), "Pay").await.unwrap();
    assert_eq!(reply.pending().len(), 1);
}

/// An agent whose payments of 12 euros a hook asks about.
fn asks_by_hook(studio: &Studio, gate: Gate) -> Arc<ReActAgent> {
    let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    let model = crate::support::calls_then("pay", json!({ "euros": 12 }), "Done.");
    let builder = ReActAgent::builder("clerk").model(model).tool(pay);
    let builder = builder.hook(HumanInTheLoop::new().ask_with("pay", gate));
    Arc::new(builder.hook(studio.hook()).build().unwrap())
}

#[tokio::test]
async fn arguments_are_shown_without_invisible_characters() {
    let studio = Studio::new();
    let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    let input = json!({ "to": "a\u{202e}b\u{200b}c\u{7f}\n" });
    let agent = ReActAgent::builder("clerk")
        .model(crate::support::calls_then("pay", input, "Done."))
        .tool(pay.permission(|_| Permission::Ask))
        .hook(studio.hook())
        .build()
        .unwrap();
    let agent = std::sync::Arc::new(agent);
    let browser = open(&studio.clone().agent(agent.clone())).await;

    agent.call("Pay").await.unwrap();

    let shown = browser.question().await["shown"].as_str().unwrap().to_owned();
    assert_eq!(shown, "{\n  \"to\": \"a\\u{202e}b\\u{200b}c\\u{7f}\\n\"\n}");
}

#[tokio::test]
async fn a_question_that_expired_does_not_hold_the_others() {
    let (studio, paid) = (Studio::new(), Arc::new(Records::new()));
    let ask = on(|event: &mut PostReasoning<'_>| -> HookResult<Flow> {
        let ids: Vec<_> = event.message().tool_uses().map(|call| call.id.clone()).collect();
        if ids.is_empty() {
            return Ok(Flow::Continue);
        }
        let questions = ids.into_iter().map(|id| {
            let question = Question::new("Pay?");
            let question =
                if id == "call-1" { question.expires_after(Duration::ZERO) } else { question };
            (id, question)
        });
        Ok(event.ask(questions)?)
    });
    let agent = asks_twice(&studio, &paid).with_agent_hook(ask);
    let agent = Arc::new(agent);
    let browser = open(&studio.clone().agent(agent.clone())).await;
    let mut stream = browser.events(None).await;
    agent.call("Pay both").await.unwrap();
    let waiting = browser.json("/api/approvals").await["waiting"].as_array().unwrap().clone();
    let open = waiting.iter().find(|it| it["call_id"] == "call-2").unwrap();

    let (status, decided) = browser.decide(open, json!({ "decision": "approve" })).await;

    assert_eq!((status, &decided["waits"]), (StatusCode::OK, &json!(0)), "{decided}");
    until_resumed(&mut stream).await;
    assert_eq!(paid.take(), [json!({ "euros": 2 })]);
}
