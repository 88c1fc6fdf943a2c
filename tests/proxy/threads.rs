//! What limits count.

use std::sync::Arc;

use hooks_agent_builtin::limit::{ModelCallLimit, ToolCallLimit};
use hooks_agent_core::react::HookSet;
use hooks_agent_guest::{Guard, GuestThreads, LiveThreads};
use hooks_agent_proxy::{ModelProxy, Provider, ProxyThreads};
use serde_json::{Value, json};

use crate::forms::{ALL, Chat, Messages, Responses};
use crate::rig::{Always, Rig, read};

fn model_calls(thread: u64) -> HookSet {
    HookSet::of(ModelCallLimit::builder().thread(thread).build().unwrap())
}

#[tokio::test]
async fn a_limit_of_model_calls_refuses_in_the_form_of_the_provider() {
    for (form, streams) in ALL {
        let rig = Rig::new(model_calls(2)).await;
        let body = form.prompt("Hi", streams);
        for _ in 0..2 {
            rig.replies(form.says(streams, &["Yes."]));
            assert_eq!(rig.post(form, &body).await.status, 200);
        }
        let refused = rig.post(form, &body).await;
        assert_eq!(refused.status, 400);
        assert!(
            refused.json()["error"]["message"].as_str().unwrap().contains("limit"),
            "{}",
            refused.text
        );
        assert_eq!(rig.got().len(), 2);
    }
}

/// Sends requests, of which the upstream answers those that get there, and returns which do.
async fn answered(rig: &Rig, requests: &[(&[(&str, &str)], Value)]) -> Vec<bool> {
    let mut answered = Vec::new();
    for (headers, body) in requests {
        let form = if body["input"].is_null() { Messages } else { Responses };
        let before = rig.got().len();
        rig.replies(form.says(false, &["Yes."]));
        let status = rig.post_to(form.path(), headers, body).await.status;
        let has_arrived = rig.got().len() > before;
        assert_eq!(has_arrived, status == 200);
        if !has_arrived {
            rig.forget_reply();
        }
        answered.push(has_arrived);
    }
    answered
}

#[tokio::test]
async fn a_thread_is_what_the_agent_says_else_what_begins_alike() {
    let rig = Rig::new(model_calls(1)).await;
    let says = |text: &str| json!({ "messages": [{ "role": "user", "content": text }] });
    let of = |user: &str, text: &str| {
        let mut request = says(text);
        request["metadata"] = json!({ "user_id": user });
        request
    };
    let requests: [(&[(&str, &str)], Value); 8] = [
        (&[("session_id", "s1")], says("one")),
        (&[("session_id", "s1")], says("two")),
        (&[("conversation_id", "s2")], says("one")),
        (&[], of("u1", "one")),
        (&[], of("u1", "two")),
        (&[], says("one")),
        (&[], says("one")),
        (&[], says("two")),
    ];
    let expected = [true, false, true, true, false, true, false, true];
    assert_eq!(answered(&rig, &requests).await, expected);
}

#[tokio::test]
async fn a_response_goes_on_with_the_thread_of_the_one_before() {
    let rig = Rig::new(model_calls(2)).await;
    let says =
        |text: &str, previous: Value| json!({ "input": text, "previous_response_id": previous });
    let requests: [(&[(&str, &str)], Value); 4] = [
        (&[], says("one", Value::Null)),
        (&[], says("two", "r1".into())),
        (&[], says("three", "r1".into())),
        (&[], says("four", Value::Null)),
    ];
    assert_eq!(answered(&rig, &requests).await, [true, true, false, true]);
}

/// Returns the request of an agent that has made calls, with its next prompt if it has one.
fn turn(root: &str, calls: u64, prompt: Option<&str>) -> Value {
    let mut messages = vec![json!({ "role": "user", "content": root })];
    for call in 0..calls {
        let id = call.to_string();
        messages.push(json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": "ls", "input": {} }] }));
        messages.push(json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": id, "content": format!("result {id}") },
            { "type": "text", "text": format!("a reminder {id}") },
        ] }));
    }
    if let Some(prompt) = prompt {
        messages.push(json!({ "role": "assistant", "content": "Yes." }));
        messages.push(json!({ "role": "user", "content": prompt }));
    }
    json!({ "messages": messages, "metadata": { "user_id": "session" } })
}

/// Has the model call a tool, and returns whether the agent gets the call.
async fn is_called(rig: &Rig, request: &Value) -> bool {
    rig.replies(Messages.calls(false, "ls", &json!({})));
    let answer = rig.post(Messages, request).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    !Messages.read(false, &answer).calls.is_empty()
}

#[tokio::test]
async fn a_run_begins_with_a_prompt_and_not_with_a_reminder() {
    let rig = Rig::new(HookSet::of(ToolCallLimit::all().run(2).build().unwrap())).await;
    assert!(is_called(&rig, &turn("Go.", 0, None)).await);
    assert!(is_called(&rig, &turn("Go.", 1, None)).await);
    assert!(!is_called(&rig, &turn("Go.", 2, None)).await);
    // The same request again is no new prompt.
    assert!(!is_called(&rig, &turn("Go.", 2, None)).await);
    assert!(is_called(&rig, &turn("Go.", 2, Some("Go on."))).await);
}

#[tokio::test]
async fn a_sub_agent_goes_on_with_the_run_of_its_caller() {
    let rig = Rig::new(HookSet::of(ToolCallLimit::all().run(2).build().unwrap())).await;
    assert!(is_called(&rig, &turn("Go.", 0, None)).await);
    // Its calls wait for their results.
    assert!(is_called(&rig, &turn("You are a helper.", 0, None)).await);
    assert!(!is_called(&rig, &turn("You are another.", 0, None)).await);
    assert!(!is_called(&rig, &turn("Go.", 1, None)).await);
    // A prompt of the caller begins a run, whatever its helpers did.
    assert!(is_called(&rig, &turn("Go.", 1, Some("Go on."))).await);
}

#[tokio::test]
async fn counts_survive_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    for expected in [200, 200, 400] {
        let rig = Rig::new(HookSet::default()).await;
        let threads = ProxyThreads::in_file(GuestThreads::open(&file).await.unwrap());
        let proxy = ModelProxy::new(Guard::new(Always(model_calls(2))), threads).unwrap();
        let proxy = proxy.upstream(Provider::OpenAi, &rig.upstream_url()).unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let served = tokio::spawn(proxy.serve(listener));
        rig.replies(Chat.says(false, &["Yes."]));
        let request = rig.client().post(format!("http://{address}{}", Chat.path()));
        let request = request.header("content-type", "application/json");
        let body = Chat.prompt("Hi", false).to_string();
        assert_eq!(read(request.body(body).send().await.unwrap()).await.status, expected);
        served.abort();
    }
}

#[tokio::test]
async fn counts_in_memory_survive_in_the_file_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    for expected in [200, 200, 400] {
        let rig = Rig::new(HookSet::default()).await;
        let live = Arc::new(LiveThreads::open(&file).await.unwrap());
        let threads = ProxyThreads::live(live.clone());
        let proxy = ModelProxy::new(Guard::new(Always(model_calls(2))), threads).unwrap();
        let proxy = proxy.upstream(Provider::OpenAi, &rig.upstream_url()).unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let served = tokio::spawn(proxy.serve(listener));
        rig.replies(Chat.says(false, &["Yes."]));
        let request = rig.client().post(format!("http://{address}{}", Chat.path()));
        let request = request.header("content-type", "application/json");
        let body = Chat.prompt("Hi", false).to_string();
        assert_eq!(read(request.body(body).send().await.unwrap()).await.status, expected);
        served.abort();
        assert!(served.await.unwrap_err().is_cancelled());
        live.save().await.unwrap();
        // Connections may still have it.
        drop(live);
    }
}
