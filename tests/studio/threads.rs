//! Threads as the store has them, forked and taken back.

use std::sync::Arc;

use hooks_agent_core::HookRole;
use hooks_agent_core::call::User;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{HistoryRow, Store, ThreadKey};
use hooks_agent_sql::store::SqliteStore;
use hooks_agent_studio::Studio;
use serde_json::{Map, Value, json};

use crate::support::{Browser, Clerk, calls_then, clerk, open, says};

/// A studio that has seen a call of ada's, with a tool call.
async fn seen(studio: Studio) -> (Browser, Arc<ReActAgent>) {
    let look = FunctionTool::new("look", "Looks.", async |_: Value| "an oak");
    let agent = ReActAgent::builder("clerk")
        .model(calls_then("look", json!({}), "An oak."))
        .tool(look)
        .hook(studio.hook());
    let agent = Arc::new(agent.build().unwrap());
    let browser = open(&studio.agent(agent.clone())).await;
    let options = CallOptions::new().thread("trees").user("ada");
    agent.call_with(options, "What stands there?").await.unwrap();
    (browser, agent)
}

fn ada() -> Studio {
    Studio::new().allow_chat(true).decided_by("ada")
}

async fn fork(browser: &Browser, body: Value) -> (u16, Value) {
    let answer = browser.post("/api/threads/clerk/trees/fork", &body).await;
    (answer.status().as_u16(), answer.json().await.unwrap())
}

#[tokio::test]
async fn a_thread_is_shown_with_the_messages_that_a_fork_may_end_with() {
    let (browser, _agent) = seen(ada()).await;

    let shown = browser.json("/api/threads/clerk/trees").await;

    let head = (&shown["agent"], &shown["thread"], &shown["user"], &shown["busy"]);
    assert_eq!(head, (&json!("clerk"), &json!("trees"), &json!("ada"), &json!(false)));
    assert_eq!((&shown["hidden"], &shown["more"]), (&json!(false), &json!(false)));
    let messages: Vec<_> = shown["messages"].as_array().unwrap().iter().collect();
    let seen: Vec<_> = messages
        .iter()
        .map(|it| (it["role"].as_str().unwrap(), it["text"].as_str().unwrap(), &it["can_fork"]))
        .collect();
    assert_eq!(
        seen,
        [
            ("user", "What stands there?", &json!(true)),
            ("assistant", "", &json!(false)),
            ("tool", "an oak", &json!(true)),
            ("assistant", "An oak.", &json!(true)),
        ]
    );
    assert_eq!(
        (&messages[1]["tools"], &messages[2]["tools"]),
        (&json!(["look"]), &json!(["look"]))
    );
    let agents = browser.json("/api/agents").await;
    assert_eq!(agents["agents"][0]["forks"], true);
    for path in ["/api/threads/clerk/none", "/api/threads/none/trees", "/api/threads/clerk/%00"] {
        assert_eq!(browser.get(path).await.status(), 404, "{path}");
    }
}

#[tokio::test]
async fn a_fork_goes_on_from_a_message_and_leaves_the_thread_as_it_is() {
    let (browser, agent) = seen(ada()).await;

    let (status, fork) = fork(&browser, json!({ "last": 0, "to": " trees again " })).await;

    assert_eq!((status, &fork), (201, &json!({ "thread": "trees again" })));
    let again = browser.json("/api/threads/clerk/trees%20again").await;
    assert_eq!(again["messages"].as_array().unwrap().len(), 1);
    assert_eq!(again["user"], "ada");
    let path = "/api/threads/clerk/trees%20again/messages";
    assert_eq!(browser.post(path, &json!({ "text": "And there?" })).await.status(), 202);
    assert_eq!(agent.threads().memory("trees").unwrap().messages().len(), 4);
}

#[tokio::test]
async fn a_fork_that_cannot_be_is_refused_in_words() {
    let (browser, _agent) = seen(ada()).await;
    let to = "again";
    for (body, status, code) in [
        (json!({ "last": 1, "to": to }), 409, "unanswered"),
        (json!({ "last": 0, "to": "trees" }), 409, "exists"),
        (json!({ "last": 9, "to": to }), 422, "invalid"),
        (json!({ "last": 0, "to": " " }), 422, "invalid"),
        (json!({ "last": 0, "to": "\u{0}" }), 422, "invalid"),
        (json!({ "last": 0 }), 400, "malformed"),
        (json!({ "last": -1, "to": to }), 400, "malformed"),
        (json!({ "last": 0, "to": to, "user": "eve" }), 400, "malformed"),
    ] {
        let (is, refused) = fork(&browser, body.clone()).await;
        assert_eq!((is, &refused["error"]), (status, &json!(code)), "{body}");
    }
    let answer =
        browser.post("/api/threads/clerk/none/fork", &json!({ "last": 0, "to": to })).await;
    assert_eq!(answer.status(), 404);
    assert_eq!(browser.get("/api/threads/clerk/again").await.status(), 404);
}

async fn rewind(browser: &Browser, body: Value) -> (u16, Value) {
    let answer = browser.post("/api/threads/clerk/trees/rewind", &body).await;
    (answer.status().as_u16(), answer.json().await.unwrap())
}

#[tokio::test]
async fn a_rewind_takes_the_thread_back_to_a_message() {
    let (browser, agent) = seen(ada()).await;

    for (body, status, code) in [
        (json!({ "last": 1 }), 409, "unanswered"),
        (json!({ "last": 9 }), 422, "invalid"),
        (json!({}), 400, "malformed"),
        (json!({ "last": 0, "to": "again" }), 400, "malformed"),
    ] {
        let (is, refused) = rewind(&browser, body.clone()).await;
        assert_eq!((is, &refused["error"]), (status, &json!(code)), "{body}");
    }
    let none = browser.post("/api/threads/clerk/none/rewind", &json!({ "last": 0 })).await;
    assert_eq!(none.status(), 404);
    assert_eq!(agent.threads().memory("trees").unwrap().messages().len(), 4);

    let (status, rewound) = rewind(&browser, json!({ "last": 0 })).await;

    assert_eq!((status, &rewound), (200, &json!({ "gone": 3 })));
    assert_eq!(agent.threads().memory("trees").unwrap().messages().len(), 1);
}

#[tokio::test]
async fn a_run_whose_question_a_rewind_gave_up_waits_no_more() {
    let studio = ada();
    let Clerk { agent, paid } = clerk(&studio, |builder| builder);
    let browser = open(&studio.agent(agent.clone())).await;
    let options = || CallOptions::new().thread("trees").user("ada");
    agent.call_with(options(), "Pay the baker").await.unwrap();
    assert_eq!(browser.newest().await["runs"][0]["state"], "waiting");
    let (status, rewound) = rewind(&browser, json!({ "last": 0 })).await;
    assert_eq!((status, &rewound), (200, &json!({ "gone": 1 })));
    let run = browser.newest().await;
    assert_eq!(run["runs"][0]["state"], "cancelled");
    assert_eq!(run["entries"].as_array().unwrap().last().unwrap()["type"], "given_up");
    assert_eq!(browser.json("/api/approvals").await["waiting"], json!([]));
    assert!(paid.take().is_empty());
}

#[tokio::test]
async fn nobody_rewinds_the_thread_of_another_user() {
    for studio in [
        Studio::new().allow_chat(true),
        Studio::new().allow_chat(true).decided_by("bob"),
        Studio::new().allow_chat(true).decided_by(User::unverified("ada")),
        Studio::new().decided_by("ada"),
    ] {
        let (browser, agent) = seen(studio).await;
        let (status, _) = rewind(&browser, json!({ "last": 0 })).await;
        assert_eq!(status, 403);
        assert_eq!(agent.threads().memory("trees").unwrap().messages().len(), 4);
    }
}

#[tokio::test]
async fn nobody_forks_the_thread_of_another_user() {
    for studio in [
        Studio::new().allow_chat(true),
        Studio::new().allow_chat(true).decided_by("bob"),
        Studio::new().allow_chat(true).decided_by(User::unverified("ada")),
    ] {
        let (browser, _agent) = seen(studio).await;
        let (status, refused) = fork(&browser, json!({ "last": 0, "to": "mine" })).await;
        assert_eq!((status, &refused["error"]), (403, &json!("other_user")));
    }
    let (browser, _agent) = seen(Studio::new().decided_by("ada")).await;
    let (status, refused) = fork(&browser, json!({ "last": 0, "to": "mine" })).await;
    assert_eq!((status, &refused["error"]), (403, &json!("chat")));
    assert_eq!(browser.get("/api/threads/clerk/trees").await.status(), 404);
}

#[tokio::test]
async fn without_content_a_thread_has_sizes_alone() {
    let (browser, _agent) = seen(ada().show_content(false)).await;
    let shown = browser.json("/api/threads/clerk/trees").await;
    assert_eq!(shown["hidden"], true);
    for message in shown["messages"].as_array().unwrap() {
        assert_eq!(message["text"], Value::Null);
    }
    assert_eq!(shown["messages"][3]["chars"], 7);
    assert!(!shown.to_string().contains("oak"), "{shown}");
}

#[tokio::test]
async fn what_was_replaced_is_shown_as_other_values_that_were_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("agents.db")).await.unwrap();
    let key = ThreadKey::new("clerk", "trees").unwrap();
    let row = |seq, archived, text| {
        HistoryRow::new(seq, 0, archived, serde_json::to_value(Msg::user(text)).unwrap())
    };
    let rows = vec![row(0, Some(1), "my code is 1234"), row(1, None, "my code is ***")];
    store.import(&key, rows, Map::new(), Some("ada".into())).await.unwrap();
    for shows_removed in [false, true] {
        let studio = ada().show_removed(shows_removed);
        let agent = ReActAgent::builder("clerk").model(says("Done.")).store(store.clone());
        let agent = Arc::new(agent.hook(studio.hook()).build().unwrap());
        let browser = open(&studio.agent(agent)).await;
        let shown = browser.json("/api/threads/clerk/trees").await;
        let of = |index: usize| {
            let message = &shown["messages"][index];
            (message["text"].as_str(), message["archived"].clone(), message["can_fork"].clone())
        };
        let removed = shows_removed.then_some("my code is 1234");
        assert_eq!(of(0), (removed, json!(true), json!(false)));
        assert_eq!(of(1), (Some("my code is ***"), json!(false), json!(true)));
    }
}

#[tokio::test]
async fn where_a_redactor_runs_after_the_studio_a_thread_has_sizes_alone() {
    let studio = ada();
    let late = on(|_: &mut PostReasoning<'_>| Flow::Continue).named("late");
    let late = late.with_priority(700).with_role(HookRole::Redacts);
    let agent = ReActAgent::builder("clerk").model(says("An oak.")).hook(studio.hook()).hook(late);
    let agent = Arc::new(agent.build().unwrap());
    let browser = open(&studio.agent(agent.clone())).await;
    agent.call_with(CallOptions::new().thread("trees"), "What stands there?").await.unwrap();
    let shown = browser.json("/api/threads/clerk/trees").await;
    assert_eq!(shown["hidden"], true);
    assert!(!shown.to_string().contains("oak"), "{shown}");
}
