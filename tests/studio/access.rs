//! Parts of the page that are for some roles.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hooks_agent_core::call::User;
use hooks_agent_core::prelude::*;
use hooks_agent_studio::{Studio, StudioError, StudioPart};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Browser, GETS, POSTS, Stream, open, says};

/// A studio that knows people by a header, their name and a role.
fn known() -> Studio {
    Studio::new().allow_chat(true).authenticate(|head| {
        let of = |name| head.headers.get(name)?.to_str().ok();
        let user = User::new(of("x-user")?.to_owned());
        Some(of("x-role").into_iter().fold(user, |user, role| user.with_role(role.to_owned())))
    })
}

async fn served(studio: Studio) -> (Browser, Arc<ReActAgent>) {
    let agent = ReActAgent::builder("clerk").model(says("Done.")).hook(studio.hook());
    let agent = Arc::new(agent.build().unwrap());
    let browser = open(&studio.agent(agent.clone())).await;
    agent.call("Go").await.unwrap();
    (browser, agent)
}

async fn ask(
    browser: &Browser,
    method: Method,
    path: &str,
    role: Option<&str>,
) -> (u16, Option<Value>) {
    let request = browser.request(method.clone(), path);
    let request = role
        .into_iter()
        .fold(request, |it, role| it.header("x-user", "ada").header("x-role", role));
    let request = if method == Method::POST { request.json(&json!({})) } else { request };
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    // A stream has no end.
    (status, if status == 200 { None } else { answer.json().await.ok() })
}

#[tokio::test]
async fn who_may_not_act_looks_and_changes_nothing() {
    let (browser, agent) = served(known().only_for(StudioPart::Acting, ["operator"])).await;
    for role in [None, Some("clerk"), Some("Operator"), Some("")] {
        for path in POSTS {
            let (status, refused) = ask(&browser, Method::POST, path, role).await;
            assert_eq!(
                (status, refused.unwrap()["error"].as_str()),
                (403, Some("viewer")),
                "{path}"
            );
        }
        for path in GETS {
            let (status, refused) = ask(&browser, Method::GET, path, role).await;
            assert_ne!(status, 403, "{path}: {refused:?}");
        }
    }
    for path in POSTS {
        let (status, refused) = ask(&browser, Method::POST, path, Some("operator")).await;
        assert_ne!(status, 403, "{path}: {refused:?}");
    }
    assert_eq!(agent.memory().messages().len(), 2);
}

#[tokio::test]
async fn each_part_is_for_its_roles() {
    let parts = [
        (StudioPart::Overview, "/api/overview"),
        (StudioPart::Runs, "/api/runs"),
        (StudioPart::Runs, "/api/search?q=done"),
        (StudioPart::Runs, "/api/history"),
        (StudioPart::Runs, "/api/runs/6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5"),
        (StudioPart::Runs, "/api/runs/6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5/test"),
        (StudioPart::Threads, "/api/threads/clerk/default"),
        (StudioPart::Approvals, "/api/approvals"),
        (StudioPart::Approvals, "/api/remembered"),
        (StudioPart::Hooks, "/api/plan/clerk"),
    ];
    for (part, _) in parts {
        let (browser, _agent) = served(known().only_for(part, ["manager", "auditor"])).await;
        for (of, path) in parts {
            let (status, _) = ask(&browser, Method::GET, path, Some("clerk")).await;
            assert_eq!(status == 403, of == part, "{path} of {of:?}, for {part:?}: {status}");
            assert_ne!(ask(&browser, Method::GET, path, Some("auditor")).await.0, 403);
        }
        // What changes something of a part is for its roles too.
        for act in ["fork", "rewind"] {
            let path = format!("/api/threads/clerk/default/{act}");
            let (status, _) = ask(&browser, Method::POST, &path, Some("clerk")).await;
            assert_eq!(status == 403, part == StudioPart::Threads);
        }
        let (status, _) = ask(&browser, Method::POST, "/api/approvals/x", Some("clerk")).await;
        assert_eq!(status == 403, part == StudioPart::Approvals);
        let revoke = "/api/remembered/x/revoke";
        let (status, _) = ask(&browser, Method::POST, revoke, Some("clerk")).await;
        assert_eq!(status == 403, part == StudioPart::Approvals);
    }
}

#[tokio::test]
async fn the_stream_has_what_the_person_may_see() {
    let studio = known().only_for(StudioPart::Runs, ["manager"]);
    let (browser, agent) = served(studio.clone()).await;
    let clerk = browser.request(Method::GET, "/api/events").header("x-user", "ada");
    let mut clerk = clerk.send().await.unwrap();
    let manager = browser.request(Method::GET, "/api/events").header("x-user", "bob");
    let mut manager = manager.header("x-role", "manager").send().await.unwrap();
    agent.call("Again").await.unwrap();
    let mut seen = String::new();
    while !seen.contains("settled") {
        seen += str::from_utf8(&manager.chunk().await.unwrap().unwrap()).unwrap();
    }
    browser.server.shutdown().await;
    let mut seen = String::new();
    while let Ok(Some(chunk)) = clerk.chunk().await {
        seen += str::from_utf8(&chunk).unwrap();
    }
    assert_eq!(seen, ": studio\n\n");
}

#[tokio::test]
async fn questions_are_not_in_the_stream_of_others() {
    let studio = known().only_for(StudioPart::Approvals, ["manager"]);
    let clerk = crate::support::clerk(&studio, |builder| builder);
    let browser = open(&studio.agent(clerk.agent.clone())).await;
    let open_stream = async |role: &str| {
        let request = browser.request(Method::GET, "/api/events").header("x-user", "ada");
        Stream::new(request.header("x-role", role).send().await.unwrap())
    };
    let (mut clerks, mut managers) = (open_stream("clerk").await, open_stream("manager").await);
    clerk.agent.call("Pay").await.unwrap();
    managers.until(|message| message.event == "approval").await;
    clerks.until_settled().await;
    browser.server.shutdown().await;
    while clerks.next().await.is_some() {}
    assert!(!clerks.text.contains("event: approval"), "{}", clerks.text);
}

#[tokio::test]
async fn who_loses_a_role_sees_no_more() {
    let is_manager = Arc::new(AtomicBool::new(true));
    let of_login = is_manager.clone();
    let studio = Studio::new().authenticate(move |_| {
        let role = if of_login.load(Ordering::SeqCst) { "manager" } else { "clerk" };
        Some(User::new("ada").with_role(role))
    });
    let (browser, agent) = served(studio.only_for(StudioPart::Runs, ["manager"])).await;
    let mut stream = browser.events(None).await;
    agent.call("Once").await.unwrap();
    stream.until_settled().await;
    is_manager.store(false, Ordering::SeqCst);
    agent.call("Twice").await.unwrap();
    browser.server.shutdown().await;
    while stream.next().await.is_some() {}
    assert!(stream.text.contains("Once") && !stream.text.contains("Twice"), "{}", stream.text);
}

#[tokio::test]
async fn the_page_is_told_what_a_person_may_do() {
    let studio = known()
        .only_for(StudioPart::Acting, ["operator"])
        .only_for(StudioPart::Overview, [] as [&str; 0]);
    let (browser, _agent) = served(studio).await;
    let viewer = async |role: Option<&str>| {
        let request = browser.request(Method::GET, "/api/agents");
        let request = role
            .into_iter()
            .fold(request, |it, role| it.header("x-user", "ada").header("x-role", role));
        request.send().await.unwrap().json::<Value>().await.unwrap()["viewer"].clone()
    };
    let parts = json!(["runs", "threads", "approvals", "hooks"]);
    assert_eq!(viewer(None).await, json!({ "user": null, "acts": false, "parts": parts }));
    let parts = json!(["runs", "threads", "approvals", "hooks", "acting"]);
    let operator = json!({ "user": "ada", "acts": true, "parts": parts });
    assert_eq!(viewer(Some("operator")).await, operator);
}

#[tokio::test]
async fn roles_without_a_login_are_an_error() {
    let studio = Studio::new().only_for(StudioPart::Overview, ["manager"]);
    let error = studio.bind("127.0.0.1:0").await.unwrap_err();
    assert!(matches!(error, StudioError::NobodyKnown { part: "overview" }), "{error}");
    assert_eq!(
        error.to_string(),
        "the part `overview` of the studio is for some roles, and the studio knows nobody: say who asks by \
         `Studio::authenticate`"
    );
}

#[tokio::test]
async fn a_user_that_the_program_has_not_authenticated_has_no_role() {
    let studio = Studio::new()
        .authenticate(|_| Some(User::unverified("ada").with_role("operator")))
        .only_for(StudioPart::Acting, ["operator"]);
    let (browser, _agent) = served(studio).await;
    for path in POSTS {
        assert_eq!(ask(&browser, Method::POST, path, None).await.0, 403, "{path}");
    }
}
