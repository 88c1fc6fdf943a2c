//! Questions, listed and decided on the page.

use futures::future::join_all;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Decision, Filter, Store, Verdict};
use hooks_agent_sql::store::SqliteStore;
use hooks_agent_studio::Studio;
use reqwest::StatusCode;
use serde_json::json;

use crate::support::{asked, clerk, open, until_resumed};

// ST-06
#[tokio::test]
async fn an_approved_tool_runs_once_and_a_second_approval_is_refused() {
    let studio = Studio::new();
    let (browser, mut stream, clerk) = asked(&studio).await;
    let question = browser.question().await;
    assert_eq!(question["arguments"], json!({ "euros": 12 }));
    assert_eq!(question["shown"], "{\n  \"euros\": 12\n}");

    let first = browser.decide(&question, json!({ "decision": "approve" })).await;
    assert_eq!(
        first,
        (StatusCode::OK, json!({ "id": question["id"], "decision": "approve", "waits": 0 }))
    );
    until_resumed(&mut stream).await;
    let (status, second) = browser.decide(&question, json!({ "decision": "approve" })).await;

    assert_eq!((status, &second["error"]), (StatusCode::CONFLICT, &json!("decided")));
    assert_eq!(clerk.paid.take(), [json!({ "euros": 12 })]);
    let of_runs: Vec<_> = browser.runs().await.iter().map(|run| run["state"].clone()).collect();
    assert_eq!(of_runs, ["finished", "resumed"], "the run that waited is over");
    let list = browser.json("/api/approvals").await;
    assert_eq!(list["waiting"], json!([]));
    let decided = &list["decided"][0];
    assert_eq!((&decided["decision"], &decided["by"]), (&json!("approve"), &json!("studio")));
    assert!(decided["at"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn pages_are_told_what_waits_and_what_was_decided() {
    let studio = Studio::new();
    let (browser, mut stream, _clerk) = asked(&studio).await;

    let told = stream.until(|it| it.event == "approval").await.pop().unwrap();
    assert_eq!(told.data["state"], "waiting");
    let question = &told.data["approval"];
    browser.decide(question, json!({ "decision": "deny", "reason": "too much" })).await;

    let told = stream.until(|it| it.event == "approval").await.pop().unwrap();
    assert_eq!(told.data["state"], "decided");
    assert_eq!(told.data["decided"]["decision"], "deny");
    assert_eq!(told.data["decided"]["reason"], "too much");
}

#[tokio::test]
async fn what_is_decided_elsewhere_is_told_too() {
    let studio = Studio::new();
    let (_browser, mut stream, clerk) = asked(&studio).await;
    stream.until(|it| it.event == "approval").await;
    let store = clerk.agent.store();
    let id = store.waiting(Filter::agent("clerk")).await.unwrap()[0].id.clone();

    store.decide(vec![Verdict::new(id, Decision::Approve).by("eve")]).await.unwrap();
    clerk.agent.resume(CallOptions::new()).await.unwrap();

    // The store forgets who decided once the call has read it.
    let told = stream.until(|it| it.event == "approval").await.pop().unwrap();
    assert!(["decided", "closed"].contains(&told.data["state"].as_str().unwrap()));
}

#[tokio::test]
async fn an_edited_tool_runs_with_the_new_arguments() {
    let studio = Studio::new();
    let (browser, mut stream, clerk) = asked(&studio).await;
    let question = browser.question().await;

    let wrong = json!({ "decision": "edit", "input": { "euros": "ten" } });
    let (status, refused) = browser.decide(&question, wrong).await;
    assert_eq!((status, &refused["error"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("invalid")));
    let (status, _) = browser.decide(&question, json!({ "decision": "edit" })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let edit = json!({ "decision": "edit", "input": { "euros": 10 } });
    let (status, _) = browser.decide(&question, edit).await;
    assert_eq!(status, StatusCode::OK);
    until_resumed(&mut stream).await;

    assert_eq!(clerk.paid.take(), [json!({ "euros": 10 })]);
}

#[tokio::test]
async fn a_denied_tool_does_not_run_and_the_model_reads_the_reason() {
    let studio = Studio::new();
    let (browser, mut stream, clerk) = asked(&studio).await;
    let question = browser.question().await;

    browser.decide(&question, json!({ "decision": "deny", "reason": "not today" })).await;
    until_resumed(&mut stream).await;

    assert!(clerk.paid.take().is_empty());
    let history = clerk.agent.threads().memory("default").unwrap().messages();
    let result = history.iter().find_map(|msg| msg.tool_results().next()).unwrap().clone();
    assert!(result.is_error && result.output.as_str().contains("not today"), "{result:?}");
}

// ST-07
#[tokio::test]
async fn of_two_tabs_that_decide_at_once_one_wins() {
    for round in 0..30 {
        let studio = Studio::new();
        let (browser, mut stream, clerk) = asked(&studio).await;
        let question = browser.question().await;

        let tabs = (0..4).map(|tab| {
            let decision = if (tab + round) % 2 == 0 { "approve" } else { "deny" };
            browser.decide(&question, json!({ "decision": decision }))
        });
        let answers = join_all(tabs).await;

        let won: Vec<_> = answers.iter().filter(|(status, _)| *status == StatusCode::OK).collect();
        assert_eq!(won.len(), 1, "{answers:?}");
        let lost = answers.iter().filter(|(status, _)| *status != StatusCode::OK);
        for (status, body) in lost {
            assert_eq!((*status, &body["error"]), (StatusCode::CONFLICT, &json!("decided")));
        }
        until_resumed(&mut stream).await;
        let runs = usize::from(won[0].1["decision"] == "approve");
        assert_eq!(clerk.paid.take().len(), runs);
    }
}

// ST-08
#[tokio::test]
async fn a_call_that_is_not_as_it_was_shown_is_not_decided() {
    let studio = Studio::new();
    let (browser, _stream, clerk) = asked(&studio).await;
    let question = browser.question().await;

    let other = json!({ "decision": "approve", "digest": "0".repeat(64) });
    let (status, refused) = browser.decide(&question, other).await;
    assert_eq!((status, &refused["error"]), (StatusCode::CONFLICT, &json!("changed")));
    let unknown = json!({ "id": "nobody.asked" });
    let body = json!({ "decision": "approve", "digest": question["digest"] });
    let (status, refused) = browser.decide(&unknown, body).await;
    assert_eq!((status, &refused["error"]), (StatusCode::CONFLICT, &json!("unknown")));

    assert!(clerk.paid.take().is_empty());
    assert_eq!(browser.question().await, question);
}

#[tokio::test]
async fn a_question_of_an_earlier_process_is_decided_and_its_call_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agents.db");
    {
        let store = SqliteStore::open(&path).await.unwrap();
        let earlier = clerk(&Studio::new(), |builder| builder.store(store));
        earlier.agent.call_with(CallOptions::new().thread("ada"), "Pay").await.unwrap();
    }
    for (decision, paid) in [("approve", 1)] {
        let studio = Studio::new();
        let store = SqliteStore::open(&path).await.unwrap();
        let clerk = clerk(&studio, |builder| builder.store(store));
        let browser = open(&studio.clone().agent(clerk.agent.clone())).await;
        let mut stream = browser.events(None).await;
        let question = browser.question().await;
        assert_eq!(question["thread"], "ada");

        let (status, _) = browser.decide(&question, json!({ "decision": decision })).await;
        assert_eq!(status, StatusCode::OK);
        until_resumed(&mut stream).await;

        assert_eq!(clerk.paid.take().len(), paid);
        let (status, _) = browser.decide(&question, json!({ "decision": decision })).await;
        assert_eq!(status, StatusCode::CONFLICT);
    }
}

#[tokio::test]
async fn members_of_another_decision_are_refused_and_nothing_runs() {
    let studio = Studio::new();
    let (browser, _stream, clerk) = asked(&studio).await;
    let question = browser.question().await;

    for body in [
        json!({ "decision": "approve", "input": { "euros": 1 } }),
        json!({ "decision": "approve", "reason": "why not" }),
        json!({ "decision": "edit" }),
    ] {
        let (status, refused) = browser.decide(&question, body).await;
        assert_eq!(
            (status, &refused["error"]),
            (StatusCode::UNPROCESSABLE_ENTITY, &json!("invalid"))
        );
    }
    let misspelt = json!({ "decision": "approve", "inputs": {} });
    assert_eq!(browser.decide(&question, misspelt).await.0, StatusCode::BAD_REQUEST);
    assert!(clerk.paid.take().is_empty());
}

#[tokio::test]
async fn a_decision_names_the_tool_call_that_it_is_about() {
    let studio = Studio::new();
    let (browser, mut stream, _clerk) = asked(&studio).await;
    let question = browser.question().await;
    browser.decide(&question, json!({ "decision": "approve" })).await;
    let told = stream.until(|it| it.data["state"] == "decided").await.pop().unwrap();
    assert_eq!(told.data["decided"]["call_id"], "call-1");
    let listed = browser.json("/api/approvals").await["decided"][0].clone();
    assert_eq!((&listed["call_id"], &listed["run"]), (&json!("call-1"), &question["run"]));
}

#[tokio::test]
async fn the_source_of_arguments_is_json_without_invisible_characters() {
    let studio = Studio::new();
    let input = json!({ "account": 9_007_199_254_740_993_u64, "rate": 1.0,
        "to": "a\u{202e}b\u{e0041}\n" });
    let clerk = clerk(&studio, |builder| {
        builder.model(crate::support::calls_then("pay", input.clone(), "Done."))
    });
    let browser = open(&studio.clone().agent(clerk.agent.clone())).await;
    clerk.agent.call("Pay").await.unwrap();

    let question = browser.question().await;
    let source = question["source"].as_str().unwrap();
    assert!(source.contains("9007199254740993") && source.contains("1.0"), "{source}");
    assert!(source.contains("a\\u202eb\\udb40\\udc41\\n"), "{source}");
    let read: serde_json::Value = serde_json::from_str(source).unwrap();
    assert_eq!(read, input, "it is the arguments, to the last digit");
}
