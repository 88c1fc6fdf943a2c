//! Texts and thoughts of a model on their way to an agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hooks_agent_builtin::guard::{SensitiveWords, WordList};
use hooks_agent_core::agent_hook;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::PostCall;
use hooks_agent_core::hook::{ModelCall, NextModel, on};
use hooks_agent_core::model::ModelAnswer;
use hooks_core::HookRole;
use serde_json::json;

use crate::forms::{ALL, Chat, Form, Messages, Responses, data, numbered, typed};
use crate::rig::{Reply, Rig};

fn words() -> SensitiveWords {
    SensitiveWords::new(WordList::new(["bluebird"]).unwrap())
}

#[tokio::test]
async fn a_word_over_the_borders_of_chunks_is_redacted() {
    let rig = Rig::of(words()).await;
    for (form, streams) in ALL {
        rig.replies(form.says(streams, &["The bl", "ue", "bird", " sings."]));
        let answer = rig.post(form, &form.prompt("Hi", streams)).await;
        let read = form.read(streams, &answer);
        assert_eq!(read.text, "The ******** sings.", "{form:?} {streams}");
        assert!(read.has_end && read.usage == Some(5) && read.error.is_none(), "{read:?}");
        assert!(!answer.text.contains("bird"), "{}", answer.text);
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_ends_as_an_error_and_releases_nothing_more() {
    let rig = Rig::of(words()).await;
    for form in [Chat, Responses, Messages] {
        let before = "Hello there, how are you today? ";
        let events = form.text_events(&[before, "blue", "bird"]);
        let place = events.iter().position(|event| event.contains("blue")).unwrap();
        for is_clean in [true, false] {
            let reply = Reply::events(events[..=place].concat());
            rig.replies(if is_clean { reply } else { reply.cut() });
            let answer = rig.post(form, &form.prompt("Hi", true)).await;
            let read = form.read(true, &answer);
            assert!(read.error.is_some() && !read.has_end, "{form:?} {}", answer.text);
            // What breaks off may do so before anything has arrived.
            let is_some = !read.text.is_empty() || !is_clean;
            assert!(is_some && before.starts_with(&read.text), "{form:?} {read:?}");
            assert!(!answer.text.contains("blue"), "{}", answer.text);
        }
    }
}

#[tokio::test]
async fn a_whole_answer_that_breaks_off_is_an_error() {
    let rig = Rig::of(words()).await;
    for form in [Chat, Responses, Messages] {
        let mut reply = form.says(false, &["Hello."]);
        reply.chunks[0].truncate(20);
        rig.replies(reply.cut());
        let answer = rig.post(form, &form.prompt("Hi", false)).await;
        assert_eq!(answer.status, 502, "{}", answer.text);
        assert!(answer.json()["error"]["message"].is_string());
    }
}

#[tokio::test]
async fn an_error_in_a_stream_ends_it_and_releases_nothing_more() {
    let rig = Rig::of(words()).await;
    for form in [Chat, Responses, Messages] {
        let mut events = form.text_events(&["Hello. ", "blue", "bird"]);
        let place = events.iter().position(|event| event.contains("blue")).unwrap();
        events.truncate(place + 1);
        let error = json!({ "type": "overloaded_error", "message": "too much" });
        events.push(match form {
            Chat => data(&json!({ "error": error })),
            Responses => typed(&json!({ "type": "error", "code": "overloaded", "message": "too much", "sequence_number": 9 })),
            Messages => typed(&json!({ "type": "error", "error": error })),
        });
        rig.replies(Reply::events(events.concat()));
        let answer = rig.post(form, &form.prompt("Hi", true)).await;
        let read = form.read(true, &answer);
        assert_eq!(read.error.unwrap()["message"], "too much", "{form:?}");
        assert!(!read.has_end && !answer.text.contains("blue"), "{}", answer.text);
    }
}

#[tokio::test]
async fn a_blocked_text_ends_as_an_error_without_it() {
    let rig = Rig::of(words().block()).await;
    for (form, streams) in ALL {
        rig.replies(form.says(streams, &["Hello. ", "The blue", "bird", " sings."]));
        let answer = rig.post(form, &form.prompt("Hi", streams)).await;
        let read = form.read(streams, &answer);
        assert!(read.error.is_some() && !read.has_end, "{form:?} {}", answer.text);
        assert!(!answer.text.contains("blue") && !answer.text.contains("sings"), "{}", answer.text);
    }
}

#[tokio::test]
async fn a_hook_that_fails_or_panics_ends_the_answer_without_its_text() {
    struct Breaks {
        panics: bool,
    }

    #[agent_hook(role = HookRole::Redacts)]
    impl Breaks {
        async fn look(
            &self,
            call: ModelCall<'_>,
            next: NextModel<'_>,
        ) -> Result<ModelAnswer, AgentError> {
            let panics = self.panics;
            let answer = next.run(call.into_request()).await?;
            Ok(answer.map_stream(|stream| {
                use futures::StreamExt;
                Box::pin(stream.map(move |chunk| match chunk {
                    Ok(chunk) if format!("{chunk:?}").contains("secret") => {
                        assert!(!panics, "hunter2");
                        let cause = "hunter2".to_owned();
                        Err(hooks_agent_core::model::ModelError::other("mine", cause))
                    }
                    chunk => chunk,
                }))
            }))
        }
    }

    for panics in [true, false] {
        let rig = Rig::of(Breaks { panics }).await;
        for (form, streams) in ALL {
            rig.replies(form.says(streams, &["Hello. ", "A secret."]));
            let answer = rig.post(form, &form.prompt("Hi", streams)).await;
            let read = form.read(streams, &answer);
            assert!(read.error.is_some() && !read.has_end, "{form:?} {}", answer.text);
            assert!(!answer.text.contains("secret"), "{}", answer.text);
            assert!(!answer.text.contains("hunter2"), "{}", answer.text);
        }
    }
}

#[tokio::test]
async fn a_hook_at_the_reply_has_it_before_the_agent() {
    let has_seen = Arc::new(AtomicBool::new(false));
    let seen = has_seen.clone();
    let hook = on(move |event: &mut PostCall<'_>| {
        seen.store(true, Ordering::Relaxed);
        let text = event.final_message().text().replace("bluebird", "bird");
        *event.final_message_mut() = hooks_agent_core::message::Msg::assistant("a", text);
    });
    let rig = Rig::of(hook).await;
    for (form, streams) in ALL {
        rig.replies(form.says(streams, &["The blue", "bird", " sings."]));
        let answer = rig.post(form, &form.prompt("Hi", streams)).await;
        let read = form.read(streams, &answer);
        assert_eq!(read.text, "The bird sings.", "{form:?} {streams}");
        assert!(has_seen.swap(false, Ordering::Relaxed));
    }
}

/// Answers with thoughts before their text.
fn thinks(form: Form) -> Reply {
    match form {
        Chat => {
            let chunk = |delta, finish: serde_json::Value| {
                data(
                    &json!({ "id": "c", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] }),
                )
            };
            Reply::events(
                [
                    chunk(
                        json!({ "role": "assistant", "reasoning_content": "A blue" }),
                        json!(null),
                    ),
                    chunk(json!({ "reasoning_content": "bird?" }), json!(null)),
                    chunk(json!({ "content": "Yes." }), json!(null)),
                    chunk(json!({}), json!("stop")),
                    "data: [DONE]\n\n".to_owned(),
                ]
                .concat(),
            )
        }
        Responses => {
            let mut events: Vec<_> = Responses
                .text_events(&["Yes."])
                .iter()
                .map(|it| crate::forms::event_of(it))
                .collect();
            for event in &mut events[1..] {
                if event["output_index"].is_number() {
                    event["output_index"] = 1.into();
                }
            }
            let of = |kind: &str| json!({ "type": format!("response.{kind}"), "item_id": "rs", "output_index": 0, "summary_index": 0 });
            let with = |kind: &str, name: &str, value: serde_json::Value| {
                let mut event = of(kind);
                event[name] = value;
                event
            };
            let part = json!({ "type": "summary_text", "text": "A bluebird?" });
            let item = json!({ "type": "reasoning", "id": "rs", "summary": [part], "encrypted_content": "xyz" });
            let begun = json!({ "type": "reasoning", "id": "rs", "summary": [] });
            let thoughts = [
                json!({ "type": "response.output_item.added", "output_index": 0, "item": begun }),
                with(
                    "reasoning_summary_part.added",
                    "part",
                    json!({ "type": "summary_text", "text": "" }),
                ),
                with("reasoning_summary_text.delta", "delta", "A blue".into()),
                with("reasoning_summary_text.delta", "delta", "bird?".into()),
                with("reasoning_summary_text.done", "text", "A bluebird?".into()),
                with("reasoning_summary_part.done", "part", part),
                json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
            ];
            events.splice(1..1, thoughts);
            Reply::events(numbered(events).concat())
        }
        Messages => {
            let mut events = Messages.text_events(&["Yes."]);
            let delta =
                |delta| json!({ "type": "content_block_delta", "index": 0, "delta": delta });
            let thoughts = [
                json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "thinking", "thinking": "", "signature": "" } }),
                delta(json!({ "type": "thinking_delta", "thinking": "A blue" })),
                delta(json!({ "type": "thinking_delta", "thinking": "bird?" })),
                delta(json!({ "type": "signature_delta", "signature": "signed" })),
                json!({ "type": "content_block_stop", "index": 0 }),
            ];
            events.splice(1..1, thoughts.iter().map(typed));
            Reply::events(events.concat())
        }
    }
}

#[tokio::test]
async fn thoughts_are_redacted_and_lose_their_signature() {
    let rig = Rig::of(words()).await;
    for form in [Chat, Responses, Messages] {
        rig.replies(thinks(form));
        let answer = rig.post(form, &form.prompt("Hi", true)).await;
        let read = form.read(true, &answer);
        assert_eq!((read.text.as_str(), read.error), ("Yes.", None), "{}", answer.text);
        if form != Responses {
            assert_eq!(read.thoughts, "A ********?");
        }
        assert!(
            answer.text.contains("********") && !answer.text.contains("bird"),
            "{}",
            answer.text
        );
        assert!(!answer.text.contains("signed"), "{}", answer.text);
    }
}

#[tokio::test]
async fn what_no_hook_reads_does_not_pass() {
    let rig = Rig::of(words()).await;
    let mut whole = Chat.whole_text("Yes.");
    let choice = &mut whole["choices"][0];
    choice["logprobs"] = json!({ "content": [{ "token": "blue" }, { "token": "bird" }] });
    choice["message"]["annotations"] = json!([{ "type": "url_citation", "title": "bluebird" }]);
    rig.replies(Reply::json(&whole));
    let answer = rig.post(Chat, &Chat.prompt("Hi", false)).await;
    assert_eq!(Chat.read(false, &answer).text, "Yes.");
    assert!(!answer.text.contains("bird"), "{}", answer.text);

    let mut whole = Messages.whole_text("Yes.");
    whole["content"][0]["citations"] =
        json!([{ "type": "char_location", "cited_text": "bluebird" }]);
    rig.replies(Reply::json(&whole));
    let answer = rig.post(Messages, &Messages.prompt("Hi", false)).await;
    assert_eq!(Messages.read(false, &answer).text, "Yes.");
    assert!(!answer.text.contains("bird"), "{}", answer.text);
}
