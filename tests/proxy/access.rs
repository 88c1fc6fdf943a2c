//! Who may call the proxy, and for what.

use hooks_agent_core::react::HookSet;
use hooks_agent_guest::Guard;
use hooks_agent_proxy::{ModelProxy, ProxyError, ProxyThreads};
use serde_json::json;

use crate::forms::{Chat, Messages};
use crate::rig::{Always, Reply, Rig, read};

#[tokio::test]
async fn a_page_that_calls_the_proxy_by_another_host_is_refused() {
    let rig = Rig::new(HookSet::default()).await;
    let body = Chat.prompt("Hi", false);
    let headers = [("host", "evil.example:80")];
    assert_eq!(rig.post_to(Chat.path(), &headers, &body).await.status, 403);
    rig.replies(Chat.says(false, &["Yes."]));
    let host = format!("localhost:{}", rig.address.port());
    assert_eq!(rig.post_to(Chat.path(), &[("host", &host)], &body).await.status, 200);
    assert_eq!(rig.got().len(), 1);
}

#[tokio::test]
async fn a_request_that_a_page_may_send_unasked_is_refused() {
    let rig = Rig::new(HookSet::default()).await;
    let url = format!("http://{}{}", rig.address, Chat.path());
    let request = rig.client().post(url).header("content-type", "text/plain");
    let answer =
        read(request.body(Chat.prompt("Hi", false).to_string()).send().await.unwrap()).await;
    assert_eq!(answer.status, 415);
    assert!(rig.got().is_empty());
}

#[tokio::test]
async fn a_token_is_required_and_not_passed_on() {
    let rig = Rig::with(HookSet::default(), |proxy| proxy.token("open sesame")).await;
    let body = Chat.prompt("Hi", false);
    for headers in
        [vec![], vec![("x-hooks-agent-token", "open")], vec![("authorization", "open sesame")]]
    {
        assert_eq!(rig.post_to(Chat.path(), &headers, &body).await.status, 403);
    }
    rig.replies(Chat.says(false, &["Yes."]));
    let headers = [("x-hooks-agent-token", "open sesame")];
    assert_eq!(rig.post_to(Chat.path(), &headers, &body).await.status, 200);
    assert!(!rig.got()[0].headers.contains_key("x-hooks-agent-token"));
}

#[test]
fn an_address_that_others_reach_needs_a_token_and_a_host() {
    let proxy = || {
        let guard = Guard::new(Always(HookSet::default()));
        ModelProxy::new(guard, ProxyThreads::in_memory()).unwrap()
    };
    let address = "0.0.0.0:4000".parse().unwrap();
    assert!(matches!(proxy().into_router(address), Err(ProxyError::NoToken { .. })));
    assert!(matches!(proxy().token("t").into_router(address), Err(ProxyError::NoHost { .. })));
    assert!(proxy().token("t").host("guard.example:4000").into_router(address).is_ok());
}

#[tokio::test]
async fn only_paths_without_a_conversation_pass_unguarded() {
    let rig = Rig::new(HookSet::default()).await;
    for path in ["/openai/v1/models", "/openai/v1/models/gpt-99", "/anthropic/v1/models"] {
        rig.replies(Reply::json(&json!({ "data": [] })));
        assert_eq!(rig.get(path).await.status, 200, "{path}");
    }
    let paths: Vec<_> = rig.got().into_iter().map(|got| got.path).collect();
    assert_eq!(paths, ["/v1/models", "/v1/models/gpt-99", "/v1/models"]);
    let refused = [
        "/openai/v1/files",
        "/openai/v1/models/../files",
        "/openai/v1/models/..%2Ffiles",
        "/openai/v1/responses/resp_1",
        "/openai/models",
        "/anthropic/v1/messages/batches",
        "/v1/models",
        "/",
    ];
    for path in refused {
        let answer = rig.get(path).await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.json()["error"]["message"].is_string());
    }
    for path in ["/openai/v1/embeddings", "/openai/v1/completions", "/openai/v1/batches"] {
        assert_eq!(rig.post_to(path, &[], &json!({})).await.status, 404, "{path}");
    }
    assert_eq!(rig.got().len(), 3);
}

#[tokio::test]
async fn tokens_are_counted_of_what_hooks_leave() {
    use hooks_agent_builtin::guard::{SensitiveWords, WordList};
    let rig = Rig::of(SensitiveWords::new(WordList::new(["bluebird"]).unwrap())).await;
    rig.replies(Reply::json(&json!({ "input_tokens": 9 })));
    let path = "/anthropic/v1/messages/count_tokens";
    let answer = rig.post_to(path, &[], &Messages.prompt("A bluebird", false)).await;
    assert_eq!(answer.json(), json!({ "input_tokens": 9 }));
    assert_eq!(Messages.prompt_of(&rig.got()[0].body), "A ********");
}

#[tokio::test]
async fn a_request_of_more_than_32_mib_is_refused() {
    let rig = Rig::new(HookSet::default()).await;
    let body = Chat.prompt(&"a".repeat(33 * 1024 * 1024), false);
    let url = format!("http://{}{}", rig.address, Chat.path());
    let request = rig.client().post(url).header("content-type", "application/json");
    // The connection may close before all of it was sent.
    if let Ok(response) = request.body(body.to_string()).send().await {
        assert_eq!(response.status(), 413);
    }
    assert!(rig.got().is_empty());
}
