//! An agent sends its whole history again each time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_builtin::guard::{SensitiveWords, WordList};
use hooks_agent_core::event::{PostActing, PreCall};
use hooks_agent_core::hook::on;
use hooks_agent_core::react::HookSet;
use serde_json::{Value, json};

use crate::forms::{Chat, Form, Messages, Responses};
use crate::requests::with_result;
use crate::rig::Rig;

/// Counts prompts and results that hooks see.
fn counting() -> (HookSet, Arc<AtomicUsize>) {
    let seen = Arc::new(AtomicUsize::new(0));
    let (prompts, results) = (seen.clone(), seen.clone());
    let hooks = HookSet::join([
        &HookSet::of(on(move |event: &mut PreCall<'_>| {
            if !event.messages().is_empty() && event.messages().last().unwrap().text() != "-" {
                prompts.fetch_add(1, Ordering::Relaxed);
            }
        })),
        &HookSet::of(on(move |_: &mut PostActing<'_>| {
            results.fetch_add(1, Ordering::Relaxed);
        })),
    ]);
    (hooks, seen)
}

fn longer(form: Form, conversation: &Value, answer: &str, prompt: &str) -> Value {
    let mut next = conversation.clone();
    let list = if form == Responses { "input" } else { "messages" };
    let says = |role: &str, text: &str| json!({ "role": role, "content": text });
    let messages = next[list].as_array_mut().unwrap();
    messages.extend([says("assistant", answer), says("user", prompt)]);
    next
}

#[tokio::test]
async fn each_text_is_screened_once() {
    for form in [Chat, Responses, Messages] {
        let (hooks, seen) = counting();
        let rig = Rig::new(hooks).await;
        let mut conversation = with_result(form, &"A text.".into());
        for round in 0..5 {
            rig.replies(form.says(false, &["Yes."]));
            assert_eq!(rig.post(form, &conversation).await.status, 200);
            assert_eq!(seen.load(Ordering::Relaxed), 2 + round, "{form:?}");
            conversation = longer(form, &conversation, "Yes.", &format!("And {round}?"));
        }
    }
}

#[tokio::test]
async fn what_was_changed_stays_changed() {
    let rig = Rig::of(SensitiveWords::new(WordList::new(["bluebird"]).unwrap())).await;
    for form in [Chat, Responses, Messages] {
        let mut conversation = with_result(form, &"A bluebird.".into());
        for _ in 0..3 {
            rig.replies(form.says(false, &["Yes."]));
            assert_eq!(rig.post(form, &conversation).await.status, 200);
            let sent = rig.got().last().unwrap().body.to_string();
            assert!(sent.contains("A ********.") && !sent.contains("bluebird"), "{sent}");
            conversation = longer(form, &conversation, "Yes.", "A bluebird?");
        }
    }
}

#[tokio::test]
async fn what_was_blocked_stays_blocked() {
    let rig = Rig::of(SensitiveWords::new(WordList::new(["bluebird"]).unwrap()).block()).await;
    let conversation = json!({ "messages": [{ "role": "user", "content": "A bluebird." }] });
    let next = longer(Messages, &conversation, "Yes.", "And now?");
    for request in [&conversation, &next, &next] {
        assert_eq!(rig.post(Messages, request).await.status, 400);
    }
    assert!(rig.got().is_empty());
}

#[tokio::test]
async fn thoughts_that_were_changed_are_not_sent_back() {
    let rig = Rig::new(HookSet::default()).await;
    rig.replies(Messages.says(false, &["Yes."]));
    let thinks =
        |signature: &str| json!({ "type": "thinking", "thinking": "Hm.", "signature": signature });
    let said = json!({ "type": "text", "text": "Yes." });
    let request = json!({ "messages": [
        { "role": "user", "content": "Hi" },
        { "role": "assistant", "content": [thinks(""), thinks("signed"), said] },
        { "role": "user", "content": "And?" },
    ] });
    assert_eq!(rig.post(Messages, &request).await.status, 200);
    assert_eq!(rig.got()[0].body["messages"][1]["content"], json!([thinks("signed"), said]));
}
