//! What passes stays as it is.

use axum::http::StatusCode;
use hooks_agent_builtin::guard::{SensitiveWords, WordList};
use hooks_agent_core::event::PreActing;
use hooks_agent_core::hook::on;
use hooks_agent_core::react::HookSet;
use serde_json::{Value, json};

use crate::forms::{ALL, Chat, Messages, Responses, data, event_of, numbered, typed};
use crate::rig::{Reply, Rig};

fn words() -> SensitiveWords {
    SensitiveWords::new(WordList::new(["bluebird"]).unwrap())
}

#[tokio::test]
async fn without_hooks_an_answer_is_the_same_event_by_event() {
    let rig = Rig::new(HookSet::default()).await;
    for (form, streams) in ALL {
        for reply in [
            form.says(streams, &["Hello ", "you."]),
            form.calls(streams, "ls", &json!({ "in": "/tmp" })),
        ] {
            let sent = String::from_utf8(reply.chunks.concat()).unwrap();
            rig.replies(reply);
            let answer = rig.post(form, &form.prompt("Hi", streams)).await;
            assert_eq!(answer.status, 200);
            if streams {
                let values = |text: &str| -> Vec<Value> {
                    let events =
                        text.split("\n\n").filter(|it| !it.is_empty() && !it.ends_with("[DONE]"));
                    events.map(event_of).collect()
                };
                let (mut sent, mut got) = (values(&sent), values(&answer.text));
                if form == Chat {
                    // The parts of a call come as one.
                    let is_call = |it: &Value| it["choices"][0]["delta"]["tool_calls"].is_array();
                    sent.retain(|it| !is_call(it));
                    got.retain(|it| !is_call(it));
                }
                assert_eq!(sent, got, "{form:?}");
            } else {
                assert_eq!(
                    serde_json::from_str::<Value>(&sent).unwrap(),
                    answer.json(),
                    "{form:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn with_hooks_that_find_nothing_an_answer_says_the_same() {
    let hooks = [HookSet::of(words()), HookSet::of(on(|_: &mut PreActing<'_>| {}))];
    let rig = Rig::new(HookSet::join(&hooks)).await;
    for (form, streams) in ALL {
        for reply in [
            form.says(streams, &["Hello ", "you."]),
            form.calls(streams, "ls", &json!({ "in": "/tmp" })),
        ] {
            let sent = String::from_utf8(reply.chunks.concat()).unwrap();
            rig.replies(reply);
            let answer = rig.post(form, &form.prompt("Hi", streams)).await;
            let sent = crate::rig::Answer { status: 200, text: sent };
            let (sent, got) = (form.read(streams, &sent), form.read(streams, &answer));
            assert!(got.has_end && got.usage == Some(5), "{got:?}");
            assert_eq!(sent, got, "{form:?} {streams}");
        }
    }
}

#[tokio::test]
async fn headers_pass_and_those_of_the_connection_do_not() {
    let rig = Rig::new(HookSet::default()).await;
    rig.replies(Chat.says(false, &["Hello."]));
    let headers = [
        ("authorization", "Bearer key"),
        ("anthropic-beta", "some"),
        ("te", "trailers"),
        ("connection", "x-mine"),
        ("x-mine", "1"),
        ("accept-encoding", "gzip"),
    ];
    let body = Chat.prompt("Hi", false);
    let answer = rig.post_to("/openai/v1/chat/completions?beta=true", &headers, &body).await;
    assert_eq!(answer.status, 200);
    let got = &rig.got()[0];
    assert_eq!(got.path, "/v1/chat/completions?beta=true");
    assert_eq!(got.headers["authorization"], "Bearer key");
    assert_eq!(got.headers["anthropic-beta"], "some");
    for name in ["te", "x-mine", "accept-encoding"] {
        assert!(!got.headers.contains_key(name), "{name}");
    }
}

#[tokio::test]
async fn unknown_events_pass_without_text_and_not_with_it() {
    let rig = Rig::of(words()).await;
    let strange = json!({ "type": "strange", "item_id": "x", "value": 3 });
    let telling = json!({ "type": "strange.delta", "delta": "blue" });
    for (form, place) in [(Chat, 2), (Responses, 4), (Messages, 4)] {
        let mut events = form.text_events(&["Hel", "lo."]);
        let write = |event: &Value| if form == Chat { data(event) } else { typed(event) };
        events.splice(place..place, [write(&strange), write(&telling)]);
        if form == Responses {
            events = numbered(events.iter().map(|event| event_of(event)).collect());
        }
        rig.replies(Reply::events(events.concat()));
        let answer = rig.post(form, &form.prompt("Hi", true)).await;
        assert_eq!(form.read(true, &answer).text, "Hello.");
        assert!(answer.text.contains("\"value\":3"), "{}", answer.text);
        assert!(!answer.text.contains("strange.delta"), "{}", answer.text);
    }
}

#[tokio::test]
async fn an_error_of_the_upstream_passes_with_its_status() {
    let rig = Rig::of(words()).await;
    for (form, streams) in ALL {
        let error = json!({ "error": { "type": "rate_limit_error", "message": "slow down" } });
        rig.replies(Reply::json(&error).status(429));
        let answer = rig.post(form, &form.prompt("Hi", streams)).await;
        assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS.as_u16());
        assert_eq!(answer.json(), error);
    }
}
