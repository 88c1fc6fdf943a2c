//! Tool calls of a model on their way to an agent.

use hooks_agent_builtin::limit::ToolCallLimit;
use hooks_agent_core::event::PreActing;
use hooks_agent_core::hook::on;
use serde_json::json;

use crate::forms::{ALL, Chat, Messages, Responses};
use crate::rig::Rig;

#[tokio::test]
async fn a_call_that_is_denied_becomes_a_text_with_the_reason() {
    let rig = Rig::of(on(|event: &mut PreActing<'_>| event.refuse("no shell here"))).await;
    for (form, streams) in ALL {
        rig.replies(form.calls(streams, "sh", &json!({ "command": "rm -r /" })));
        let answer = rig.post(form, &form.prompt("Hi", streams)).await;
        let read = form.read(streams, &answer);
        assert!(read.calls.is_empty() && read.has_end, "{form:?} {read:?}");
        assert!(read.text.starts_with("Well. ") && read.text.contains("no shell here"), "{read:?}");
        assert!(!answer.text.contains("rm -r"), "{}", answer.text);
        let finish = match form {
            Chat => "stop",
            Responses => "completed",
            Messages => "end_turn",
        };
        assert_eq!(read.finish.as_deref(), Some(finish));
    }
}

#[tokio::test]
async fn a_question_is_a_deny_with_its_reason() {
    let rig = Rig::of(on(|event: &mut PreActing<'_>| event.ask("is it safe?"))).await;
    for (form, streams) in ALL {
        rig.replies(form.calls(streams, "sh", &json!({})));
        let answer = rig.post(form, &form.prompt("Hi", streams)).await;
        let read = form.read(streams, &answer);
        assert!(read.calls.is_empty() && read.text.contains("is it safe?"), "{read:?}");
    }
}

#[tokio::test]
async fn changed_arguments_are_what_the_agent_gets() {
    let hook = on(|event: &mut PreActing<'_>| event.tool_use_mut().input["path"] = "b".into());
    let rig = Rig::of(hook).await;
    for (form, streams) in ALL {
        rig.replies(form.calls(streams, "write", &json!({ "path": "a", "text": "x" })));
        let answer = rig.post(form, &form.prompt("Hi", streams)).await;
        let read = form.read(streams, &answer);
        let written = ("write".to_owned(), json!({ "path": "b", "text": "x" }));
        assert_eq!(read.calls, [written], "{form:?} {streams}");
        let finish = match form {
            Chat => "tool_calls",
            Responses => "completed",
            Messages => "tool_use",
        };
        assert_eq!(read.finish.as_deref(), Some(finish));
    }
}

#[tokio::test]
async fn of_two_calls_one_may_pass() {
    let hook = on(|event: &mut PreActing<'_>| match event.tool_use().input["n"].as_u64() {
        Some(1) => event.refuse("not the first"),
        _ => hooks_agent_core::event::Flow::Continue,
    });
    let rig = Rig::of(hook).await;
    let mut whole = Chat.whole_text("");
    let call = |id: u64| json!({ "id": id.to_string(), "type": "function", "function": { "name": "f", "arguments": json!({ "n": id }).to_string() } });
    whole["choices"][0]["message"]["tool_calls"] = json!([call(1), call(2)]);
    whole["choices"][0]["finish_reason"] = "tool_calls".into();
    rig.replies(crate::rig::Reply::json(&whole));
    let read = Chat.read(false, &rig.post(Chat, &Chat.prompt("Hi", false)).await);
    assert_eq!(read.calls, [("f".to_owned(), json!({ "n": 2 }))]);
    assert_eq!(read.finish.as_deref(), Some("tool_calls"));
    assert!(read.text.contains("not the first"));
}

#[tokio::test]
async fn arguments_that_are_no_object_are_denied() {
    let rig = Rig::of(on(|_: &mut PreActing<'_>| {})).await;
    let mut whole = Chat.whole_text("");
    let call = json!({ "id": "1", "type": "function", "function": { "name": "f", "arguments": "{\"n\"" } });
    whole["choices"][0]["message"]["tool_calls"] = json!([call]);
    rig.replies(crate::rig::Reply::json(&whole));
    let read = Chat.read(false, &rig.post(Chat, &Chat.prompt("Hi", false)).await);
    assert!(read.calls.is_empty() && read.text.contains("no JSON object"), "{read:?}");
}

#[tokio::test]
async fn a_limit_of_tool_calls_holds_over_requests() {
    let rig = Rig::of(ToolCallLimit::all().thread(2).build().unwrap()).await;
    let mut passed = Vec::new();
    for _ in 0..3 {
        rig.replies(Messages.calls(true, "ls", &json!({})));
        let answer = rig.post(Messages, &Messages.prompt("Hi", true)).await;
        passed.push(!Messages.read(true, &answer).calls.is_empty());
    }
    assert_eq!(passed, [true, true, false]);
}

#[tokio::test]
async fn a_response_that_goes_on_has_answers_for_calls_that_were_denied() {
    let rig = Rig::of(on(|event: &mut PreActing<'_>| event.refuse("no shell here"))).await;
    for streams in [true, false] {
        rig.replies(Responses.calls(streams, "sh", &json!({})));
        rig.post(Responses, &Responses.prompt("Hi", streams)).await;
        rig.replies(Responses.says(streams, &["Yes."]));
        let mut next = Responses.prompt("And now?", streams);
        next["previous_response_id"] = "r1".into();
        assert_eq!(rig.post(Responses, &next).await.status, 200);
        let sent = rig.got().last().unwrap().body.clone();
        assert_eq!(sent["input"][0]["type"], "function_call_output");
        assert_eq!(sent["input"][0]["call_id"], "call_1");
        assert_eq!(sent["input"][1]["content"], "And now?");
    }
}
