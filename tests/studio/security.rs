//! Who may ask, and what every answer has.

use std::sync::Arc;

use hooks_agent_core::prelude::*;
use hooks_agent_studio::{Studio, StudioError};
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::support::{Browser, GETS, POSTS, calls_then, open, says, seen};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

// ST-01
#[tokio::test]
async fn without_the_cookie_there_is_nothing() {
    let (browser, _agent) = seen().await;
    for path in GETS {
        let answer = browser.client.get(browser.address(path)).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{path}");
        let body = answer.text().await.unwrap();
        assert!(!body.contains("secret") && !body.contains("clerk"), "{body}");
    }
    for path in POSTS {
        let request = browser.client.post(browser.address(path)).json(&json!({}));
        assert_eq!(request.send().await.unwrap().status(), StatusCode::UNAUTHORIZED, "{path}");
    }
    let (name, token) = browser.cookie.split_once('=').unwrap();
    let wrong = [
        format!("{name}="),
        format!("{name}={}", &token[1..]),
        format!("{name}={token}0"),
        format!("{name}={}", "0".repeat(token.len())),
        format!("other={token}"),
        token.to_owned(),
    ];
    for cookie in wrong {
        let request = browser.client.get(browser.address("/api/runs")).header("cookie", &cookie);
        let status = request.send().await.unwrap().status();
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{cookie}");
    }
}

#[tokio::test]
async fn the_token_is_exchanged_for_a_cookie_and_leaves_the_address() {
    let (browser, _agent) = seen().await;
    let answer = browser.client.get(browser.server.url()).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert_eq!(answer.headers()["location"], "/");
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    let port = browser.server.address().port();
    assert!(cookie.starts_with(&format!("studio_{port}=")), "{cookie}");
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.split("; ").any(|it| it == part), "{cookie}");
    }
    let token = browser.cookie.split_once('=').unwrap().1;
    assert_eq!(token.len(), 32, "128 bits");
    for wrong in ["/?token=", "/?token=0", "/?token=%00", "/?a=b&token=x"] {
        let answer = browser.client.get(browser.address(wrong)).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{wrong}");
        assert!(answer.headers().get("set-cookie").is_none());
    }
    // Only the page takes it.
    let path = format!("/api/runs?token={token}");
    let answer = browser.client.get(browser.address(&path)).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    assert!(!format!("{:?}", browser.server).contains(token));
}

#[tokio::test]
async fn a_browser_without_the_cookie_gets_a_page_that_goes_on_or_says_what_to_do() {
    let (browser, _agent) = seen().await;
    let page = async |path: &str, site: &str| {
        let request = browser.client.get(browser.address(path)).header("sec-fetch-site", site);
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{path} {site}");
        let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
        (kind, answer.text().await.unwrap())
    };
    // A strict cookie does not come with a link of another site, but with the next request.
    let (kind, text) = page("/", "cross-site").await;
    assert!(kind.starts_with("text/html"), "{kind}");
    assert!(text.contains("http-equiv=\"refresh\""), "{text}");
    // It goes on once: what the page itself asks for is of the same origin.
    for site in ["same-origin", "same-site", "none"] {
        let (kind, text) = page("/", site).await;
        assert!(kind.starts_with("text/html"), "{kind}");
        assert!(!text.contains("refresh") && text.contains("token"), "{text}");
    }
    let (_, text) = page("/?token=of-an-earlier-start", "cross-site").await;
    assert!(!text.contains("refresh") && text.contains("token"), "{text}");
    // A program reads JSON.
    let (kind, _) = page("/api/runs", "cross-site").await;
    assert_eq!(kind, "application/json");
    // Another name is told to people too.
    let request = browser.request(Method::GET, "/").header("host", "evil.test");
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::MISDIRECTED_REQUEST);
    assert!(answer.text().await.unwrap().contains("<p>"), "it is a page");
}

// ST-04
#[tokio::test]
async fn only_json_is_taken() {
    let (browser, _agent) = seen().await;
    for path in POSTS {
        for kind in ["text/plain", "application/x-www-form-urlencoded", "text/json", "json"] {
            let request = browser.request(Method::POST, path).header("content-type", kind);
            let status = request.body("{}").send().await.unwrap().status();
            assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{path} {kind}");
        }
        let without = browser.request(Method::POST, path).body("{}");
        let status = without.send().await.unwrap().status();
        assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{path}");
    }
    let request = browser.request(Method::POST, POSTS[1]);
    let request = request.header("content-type", "Application/JSON; charset=utf-8").body("no");
    assert_eq!(request.send().await.unwrap().status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_body_is_at_most_a_mebibyte() {
    let (browser, _agent) = seen().await;
    let body = json!({ "text": "a".repeat(1 << 20) });
    let answer = browser.post("/api/approvals/x", &body).await;
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let nested = "[".repeat(100_000);
    let request = browser.request(Method::POST, "/api/approvals/x");
    let request = request.header("content-type", "application/json").body(nested);
    assert_eq!(request.send().await.unwrap().status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn every_file_that_the_page_names_is_served() {
    let (browser, _agent) = seen().await;
    let page = browser.get("/").await.text().await.unwrap();
    let named =
        page.split('"').filter(|part| part.starts_with("/assets/") || part.starts_with("assets/"));
    let named: Vec<_> = named.map(|path| format!("/{}", path.trim_start_matches('/'))).collect();
    assert!(named.iter().any(|path| path == "/assets/main.js"), "{page}");
    assert!(named.iter().any(|path| path == "/assets/base.css"), "{page}");
    for path in named {
        let answer = browser.get(&path).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        assert!(!answer.bytes().await.unwrap().is_empty(), "{path}");
    }
}

// ST-05
#[tokio::test]
async fn every_answer_has_the_headers_and_the_page_no_inline_script() {
    let (browser, _agent) = seen().await;
    let mut answers = vec![
        browser.get("/nothing").await,
        browser.get("/api/nothing").await,
        browser.request(Method::DELETE, "/api/runs").json(&json!({})).send().await.unwrap(),
        browser.client.get(browser.address("/")).send().await.unwrap(),
        browser.client.get(browser.server.url()).send().await.unwrap(),
        browser.request(Method::POST, POSTS[0]).body("").send().await.unwrap(),
        browser.post(POSTS[0], &json!({})).await,
        browser.post(POSTS[1], &json!({})).await,
        browser.post(POSTS[2], &json!({})).await,
        browser.request(Method::HEAD, "/").send().await.unwrap(),
        browser.get("/assets/..%2fserver").await,
    ];
    for path in GETS {
        answers.push(browser.get(path).await);
    }
    for answer in answers {
        let (status, url) = (answer.status(), answer.url().to_string());
        let header = |name: &str| answer.headers().get(name).map(|it| it.to_str().unwrap());
        assert_eq!(header("content-security-policy"), Some(POLICY), "{status} {url}");
        assert_eq!(header("x-content-type-options"), Some("nosniff"));
        assert_eq!(header("referrer-policy"), Some("no-referrer"));
        assert_eq!(header("cache-control"), Some("no-store"));
        assert!(header("content-type").is_some(), "{status} {url}");
    }
    let page = browser.get("/").await.text().await.unwrap().to_lowercase();
    for (at, _) in page.match_indices("<script") {
        let tag = &page[at..page[at..].find('>').unwrap() + at];
        assert!(tag.contains("src="), "{tag}");
    }
    assert!(
        !page.contains("javascript:") && !page.contains(" onload=") && !page.contains("<style")
    );
}

// ST-05
#[tokio::test]
async fn markup_of_a_tool_arrives_as_text() {
    const MARKUP: &str = "<img src=x onerror=alert(1)></script>";
    let studio = Studio::new();
    let read = FunctionTool::new("read", "Reads.", async |_: serde_json::Value| MARKUP);
    let agent = ReActAgent::builder("clerk")
        .model(calls_then("read", json!({}), "Done."))
        .tool(read)
        .hook(studio.hook())
        .build()
        .unwrap();
    let browser = open(&studio).await;
    agent.call("Go").await.unwrap();

    let run = browser.newest().await;
    let entries = run["entries"].as_array().unwrap();
    let result = entries.iter().find(|it| it["type"] == "tool_finished").unwrap();
    assert_eq!(result["data"]["output"], MARKUP);
    let answer = browser.get("/api/runs").await;
    assert_eq!(answer.headers()["content-type"], "application/json");
}

#[tokio::test]
async fn errors_are_a_code_and_a_sentence() {
    let (browser, _agent) = seen().await;
    let unknown = "/api/runs/6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5";
    for (answer, status, code) in [
        (browser.get(unknown).await, 404, "not_found"),
        (browser.get("/api/runs/no-id").await, 404, "not_found"),
        (browser.get("/api/runs?limit=many").await, 400, "malformed"),
        (browser.get("/api/runs/%ff").await, 400, "malformed"),
        (browser.post(POSTS[0], &json!({})).await, 404, "not_found"),
        (
            browser.post("/api/threads/clerk/default/messages", &json!({ "text": "hi" })).await,
            403,
            "chat",
        ),
        (
            browser.request(Method::PUT, "/api/runs").json(&json!({})).send().await.unwrap(),
            405,
            "method",
        ),
        (browser.get("/assets/none.js").await, 404, "not_found"),
    ] {
        assert_eq!(answer.status(), status);
        let body: serde_json::Value = answer.json().await.unwrap();
        assert_eq!(body["error"], code);
        assert!(body["message"].is_string());
    }
}

#[tokio::test]
async fn other_machines_need_a_token_of_the_program() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refused = Studio::new().bind(address).await.unwrap_err();
        assert!(matches!(refused, StudioError::TokenRequired { .. }), "{refused}");
    }
    for token in ["", "short", "with spaces and more than that", "with;semicolons;and=more"] {
        let refused = Studio::new().token(token).bind("127.0.0.1:0").await.unwrap_err();
        assert!(matches!(refused, StudioError::WeakToken { .. }), "{token}");
    }
    let token = "0123456789abcdef";
    let server = Studio::new().token(token).bind("0.0.0.0:0").await.unwrap();
    assert_eq!(
        server.url(),
        format!("http://127.0.0.1:{}/?token={token}", server.address().port())
    );
    let refused = Studio::new().bind("nowhere").await.unwrap_err();
    assert!(matches!(refused, StudioError::Bind { .. }), "{refused}");
    let in_use = server.address().to_string().replace("0.0.0.0", "127.0.0.1");
    assert!(matches!(Studio::new().bind(in_use).await, Err(StudioError::Bind { .. })));
}

#[tokio::test]
async fn two_agents_of_one_name_are_refused() {
    let build = || Arc::new(ReActAgent::builder("clerk").model(says("Done.")).build().unwrap());
    let agent = build();
    let same = Studio::new().agent(agent.clone()).agent(agent.clone());
    assert!(same.bind("127.0.0.1:0").await.is_ok());
    let refused = Studio::new().agent(agent).agent(build()).bind("127.0.0.1:0").await;
    assert!(matches!(refused, Err(StudioError::DuplicateAgent { .. })));
}

#[tokio::test]
async fn each_studio_has_a_token_of_its_own() {
    let (one, two) = (open(&Studio::new()).await, open(&Studio::new()).await);
    let token = |browser: &Browser| browser.cookie.split_once('=').unwrap().1.to_owned();
    assert_ne!(token(&one), token(&two));
    // Browsers send the cookies of both to both.
    let both = format!("{}; {}", two.cookie, one.cookie);
    let request = one.client.get(one.address("/api/runs")).header("cookie", both);
    assert_eq!(request.send().await.unwrap().status(), StatusCode::OK);
    let port = one.server.address().port();
    let other = format!("studio_{port}={}", token(&two));
    let request = one.client.get(one.address("/api/runs")).header("cookie", other);
    assert_eq!(request.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
}
