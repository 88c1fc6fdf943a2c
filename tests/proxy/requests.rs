//! What an agent sends on its way to its model.

use hooks_agent_builtin::guard::{SensitiveWords, WordList};
use hooks_agent_core::react::HookSet;
use serde_json::{Value, json};

use crate::forms::{ALL, Chat, Form, Messages, Responses};
use crate::rig::Rig;

fn words() -> SensitiveWords {
    SensitiveWords::new(WordList::new(["bluebird"]).unwrap())
}

#[tokio::test]
async fn a_prompt_that_is_blocked_is_not_sent() {
    let rig = Rig::of(words().block()).await;
    for (form, streams) in ALL {
        let answer = rig.post(form, &form.prompt("The bluebird.", streams)).await;
        assert_eq!(answer.status, 400);
        let body = answer.json();
        assert_eq!(body["error"]["type"], "invalid_request_error");
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.contains("not allowed") && !message.contains("bluebird"), "{message}");
        match form {
            Messages => assert_eq!(body["type"], "error"),
            Chat | Responses => assert_eq!(body["error"]["code"], "blocked_by_policy"),
        }
    }
    assert!(rig.got().is_empty());
}

#[tokio::test]
async fn a_prompt_is_redacted_in_place() {
    let rig = Rig::of(words()).await;
    for (form, streams) in ALL {
        rig.replies(form.says(streams, &["Yes."]));
        let answer = rig.post(form, &form.prompt("The bluebird.", streams)).await;
        assert_eq!(answer.status, 200);
        assert_eq!(form.prompt_of(&rig.got().last().unwrap().body), "The ********.");
    }
}

/// Returns a conversation in which a tool has returned a text.
pub(crate) fn with_result(form: Form, result: &Value) -> Value {
    match form {
        Chat => json!({ "model": "m", "messages": [
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "Read it." },
            { "role": "assistant", "tool_calls": [{ "id": "1", "type": "function", "function": { "name": "read", "arguments": "{}" } }] },
            { "role": "tool", "tool_call_id": "1", "content": result },
        ] }),
        Responses => json!({ "model": "m", "input": [
            { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Read it." }] },
            { "type": "function_call", "call_id": "1", "name": "read", "arguments": "{}" },
            { "type": "function_call_output", "call_id": "1", "output": result },
        ] }),
        Messages => json!({ "model": "m", "max_tokens": 9, "messages": [
            { "role": "user", "content": "Read it." },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "1", "name": "read", "input": {} }] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "1", "content": result }] },
        ] }),
    }
}

#[tokio::test]
async fn results_of_tools_are_redacted_as_texts_and_as_parts() {
    let rig = Rig::of(words().input(false)).await;
    for form in [Chat, Responses, Messages] {
        let kind = if form == Responses { "input_text" } else { "text" };
        let parts =
            json!([{ "type": kind, "text": "one" }, { "type": kind, "text": "A bluebird." }]);
        for result in ["A bluebird.".into(), parts] {
            rig.replies(form.says(false, &["Yes."]));
            assert_eq!(rig.post(form, &with_result(form, &result)).await.status, 200);
            let sent = rig.got().last().unwrap().body.to_string();
            assert!(sent.contains("A ********."), "{sent}");
            assert!(!sent.contains("bluebird"), "{sent}");
        }
    }
}

#[tokio::test]
async fn documents_are_texts_of_the_user() {
    let rig = Rig::of(words()).await;
    rig.replies(Messages.says(false, &["Yes."]));
    let request = json!({ "model": "m", "messages": [{ "role": "user", "content": [
        { "type": "document", "title": "The bluebird", "source": { "type": "text", "data": "A bluebird." } },
        { "type": "search_result", "source": "x", "title": "t", "content": [{ "type": "text", "text": "bluebird" }] },
    ] }] });
    assert_eq!(rig.post(Messages, &request).await.status, 200);
    let sent = rig.got()[0].body.to_string();
    assert!(!sent.contains("bluebird"), "{sent}");
}

#[tokio::test]
async fn system_messages_pass() {
    let rig = Rig::of(words()).await;
    rig.replies(Chat.says(false, &["Yes."]));
    let request = json!({ "messages": [
        { "role": "system", "content": "You are bluebird." },
        { "role": "user", "content": "Hi" },
    ] });
    assert_eq!(rig.post(Chat, &request).await.status, 200);
    assert_eq!(rig.got()[0].body, request);
}

#[tokio::test]
async fn what_cannot_be_guarded_is_refused() {
    let rig = Rig::new(HookSet::default()).await;
    let user = json!([{ "role": "user", "content": "Hi" }]);
    let requests = [
        (Chat, json!({ "messages": user, "n": 2 })),
        (Chat, json!({ "messages": user, "functions": [] })),
        (Chat, json!({ "messages": user, "modalities": ["text", "audio"] })),
        (Chat, json!({ "messages": [{ "role": "strange", "content": "Hi" }] })),
        (Chat, json!({ "prompt": "Hi" })),
        (Responses, json!({ "input": "Hi", "background": true })),
        (Responses, json!({ "input": "Hi", "previous_response_id": "unknown" })),
        (Messages, json!({ "messages": "Hi" })),
        (Messages, json!(["Hi"])),
    ];
    for (form, request) in requests {
        let answer = rig.post(form, &request).await;
        assert_eq!(answer.status, 400, "{request}");
        assert!(answer.json()["error"]["message"].is_string());
    }
    assert!(rig.got().is_empty());
}

#[tokio::test]
async fn two_fields_of_one_name_do_not_hide_a_text() {
    let rig = Rig::of(words()).await;
    rig.replies(Chat.says(false, &["Yes."]));
    let body = r#"{"messages":[{"role":"user","content":"bluebird"}],"messages":[{"role":"user","content":"Hi"}]}"#;
    let url = format!("http://{}/openai/v1/chat/completions", rig.address);
    let request = rig.client().post(url).header("content-type", "application/json").body(body);
    assert_eq!(request.send().await.unwrap().status(), 200);
    assert_eq!(rig.got()[0].body, json!({ "messages": [{ "role": "user", "content": "Hi" }] }));
}
