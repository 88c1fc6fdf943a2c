//! Upstreams that do not answer as they should.

use std::time::Duration;

use hooks_agent_core::react::HookSet;
use hooks_agent_guest::Guard;
use hooks_agent_proxy::{ModelProxy, Provider, ProxyError, ProxyThreads};
use serde_json::json;
use tokio::net::TcpListener;

use crate::forms::{ALL, Chat, Messages, Responses};
use crate::rig::{Always, Reply, Rig, read, serve};

#[tokio::test]
async fn an_upstream_that_cannot_be_reached_is_an_error_of_the_form() {
    // Nobody listens there any more.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let (address, client) = serve(HookSet::default(), &url, |proxy| proxy).await;
    for (form, streams) in ALL {
        let request = client.post(format!("http://{address}{}", form.path()));
        let request = request.header("content-type", "application/json");
        let answer =
            read(request.body(form.prompt("Hi", streams).to_string()).send().await.unwrap()).await;
        assert_eq!(answer.status, 502);
        let kind = if form == Messages { "api_error" } else { "server_error" };
        assert_eq!(answer.json()["error"]["type"], kind);
        assert!(!answer.text.contains(&url));
    }
}

#[tokio::test]
async fn an_upstream_that_is_silent_is_an_error_of_the_form() {
    // It takes connections and says nothing.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let set = |proxy: ModelProxy| proxy.silence(Duration::from_millis(50));
    let (address, client) = serve(HookSet::default(), &url, set).await;
    let request = client.post(format!("http://{address}{}", Chat.path()));
    let request = request.header("content-type", "application/json");
    let answer =
        read(request.body(Chat.prompt("Hi", false).to_string()).send().await.unwrap()).await;
    assert_eq!(answer.status, 504, "{}", answer.text);
    drop(listener);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let rig = Rig::new(HookSet::default()).await;
    rig.replies(Reply::json(&json!({})).status(307));
    assert_eq!(rig.post(Chat, &Chat.prompt("Hi", false)).await.status, 502);
}

#[tokio::test]
async fn an_event_of_more_than_one_mib_ends_the_answer_as_an_error() {
    let rig = Rig::new(HookSet::default()).await;
    for form in [Chat, Responses, Messages] {
        let long = "a".repeat(1024 * 1024);
        rig.replies(form.says(true, &["Hello. ", &long]));
        let answer = rig.post(form, &form.prompt("Hi", true)).await;
        let read = form.read(true, &answer);
        assert!(read.error.is_some() && !read.has_end, "{form:?}");
        assert_eq!(read.text, "Hello. ");
    }
}

#[tokio::test]
async fn an_answer_of_another_form_is_an_error() {
    let rig = Rig::new(HookSet::default()).await;
    for (form, streams) in ALL {
        rig.replies(form.says(!streams, &["Hello."]));
        let answer = rig.post(form, &form.prompt("Hi", streams)).await;
        assert_eq!(answer.status, 502, "{form:?} {streams}");
        rig.replies(if streams {
            Reply::events("data: {\"a\n\n")
        } else {
            Reply::json(&json!({ "a": 1 }))
        });
        let answer = rig.post(form, &form.prompt("Hi", streams)).await;
        assert!(form.read(streams, &answer).error.is_some(), "{form:?} {streams}");
    }
}

#[test]
fn urls_that_are_none_are_refused() {
    for url in ["api.openai.com", "ftp://a", "http://u:p@a", "http://a?b", "http://a#b", ""] {
        let guard = Guard::new(Always(HookSet::default()));
        let proxy = ModelProxy::new(guard, ProxyThreads::in_memory()).unwrap();
        let refused = proxy.upstream(Provider::OpenAi, url);
        assert!(matches!(refused, Err(ProxyError::Url { .. })), "{url}");
    }
}
