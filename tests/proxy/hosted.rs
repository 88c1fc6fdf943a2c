//! Tools that the provider runs.

use hooks_agent_builtin::guard::{SensitiveWords, WordList};
use hooks_agent_core::event::{Flow, PreActing};
use hooks_agent_core::hook::on;
use hooks_agent_core::react::HookSet;
use serde_json::{Value, json};

use crate::forms::{Chat, Form, Messages, Responses, event_of, numbered, typed};
use crate::rig::{Reply, Rig};

fn words() -> HookSet {
    let words = SensitiveWords::new(WordList::new(["bluebird"]).unwrap());
    HookSet::of(words.input(false).output(false).tool_arguments(false))
}

/// Returns a whole answer with the call of a tool that the provider ran, and its result.
fn ran(form: Form, result: &Value) -> Value {
    let mut whole = form.whole_text("Yes.");
    let items = match form {
        Responses => vec![json!({
            "type": "mcp_call", "id": "mcp_1", "server_label": "bank", "name": "read",
            "arguments": "{}", "output": result,
        })],
        _ => vec![
            json!({ "type": "mcp_tool_use", "id": "m_1", "server_name": "bank", "name": "read", "input": {} }),
            json!({ "type": "mcp_tool_result", "tool_use_id": "m_1", "content": [{ "type": "text", "text": result }] }),
        ],
    };
    let list = if form == Responses { "output" } else { "content" };
    whole[list].as_array_mut().unwrap().splice(0..0, items);
    whole
}

/// Returns the same as a stream.
fn streamed(form: Form, whole: &Value) -> Reply {
    let mut events: Vec<_> =
        form.text_events(&["Yes."]).iter().map(|event| event_of(event)).collect();
    if form == Responses {
        let item = &whole["output"][0];
        let mut begun = item.clone();
        begun["output"] = Value::Null;
        for event in &mut events {
            if event["output_index"].is_number() {
                event["output_index"] = 1.into();
            }
        }
        let new = [
            json!({ "type": "response.output_item.added", "output_index": 0, "item": begun }),
            json!({ "type": "response.mcp_call.in_progress", "output_index": 0, "item_id": "mcp_1" }),
            json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        ];
        events.splice(1..1, new);
        events.last_mut().unwrap()["response"] = whole.clone();
        return Reply::events(numbered(events).concat());
    }
    for event in &mut events {
        if event["index"].is_number() {
            event["index"] = 2.into();
        }
    }
    let blocks = (0..2).flat_map(|index| {
        let begin = json!({ "type": "content_block_start", "index": index, "content_block": whole["content"][index] });
        [begin, json!({ "type": "content_block_stop", "index": index })]
    });
    events.splice(1..1, blocks);
    Reply::events(events.iter().map(typed).collect::<String>())
}

#[tokio::test]
async fn results_of_the_provider_are_replaced() {
    let rig = Rig::new(words()).await;
    for form in [Responses, Messages] {
        for streams in [true, false] {
            let whole = ran(form, &"A bluebird.".into());
            rig.replies(if streams { streamed(form, &whole) } else { Reply::json(&whole) });
            let answer = rig.post(form, &form.prompt("Hi", streams)).await;
            let read = form.read(streams, &answer);
            assert!(read.has_end && read.error.is_none() && read.text == "Yes.", "{read:?}");
            assert!(answer.text.contains("A ********."), "{}", answer.text);
            assert!(!answer.text.contains("bluebird"), "{}", answer.text);
        }
    }
}

#[tokio::test]
async fn results_that_hooks_leave_pass_as_they_are() {
    let rig = Rig::new(words()).await;
    for form in [Responses, Messages] {
        let whole = ran(form, &"A sparrow.".into());
        rig.replies(Reply::json(&whole));
        assert_eq!(rig.post(form, &form.prompt("Hi", false)).await.json(), whole);
        let reply = streamed(form, &whole);
        let sent = String::from_utf8(reply.chunks.concat()).unwrap();
        rig.replies(reply);
        let answer = rig.post(form, &form.prompt("Hi", true)).await;
        let events = |text: &str| -> Vec<Value> {
            text.split("\n\n").filter(|it| !it.is_empty()).map(event_of).collect()
        };
        assert_eq!(events(&sent), events(&answer.text));
    }
}

#[tokio::test]
async fn calls_of_the_provider_that_hooks_deny_are_withheld_with_their_results() {
    let hook = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
        "mcp__bank__read" => event.refuse("not the bank"),
        _ => Flow::Continue,
    });
    let rig = Rig::of(hook).await;
    for form in [Responses, Messages] {
        for streams in [true, false] {
            let whole = ran(form, &"A bluebird.".into());
            rig.replies(if streams { streamed(form, &whole) } else { Reply::json(&whole) });
            let answer = rig.post(form, &form.prompt("Hi", streams)).await;
            let read = form.read(streams, &answer);
            assert!(read.text.contains("not the bank") && read.text.ends_with("Yes."), "{read:?}");
            assert!(!answer.text.contains("bluebird"), "{}", answer.text);
        }
    }
}

#[tokio::test]
async fn results_that_no_hook_can_read_are_withheld() {
    let rig = Rig::new(words()).await;
    let mut whole = Messages.whole_text("Yes.");
    let found = json!([{ "type": "web_search_result", "url": "u", "title": "t", "encrypted_content": "c2VjcmV0" }]);
    let blocks = [
        json!({ "type": "server_tool_use", "id": "s_1", "name": "web_search", "input": { "query": "q" } }),
        json!({ "type": "web_search_tool_result", "tool_use_id": "s_1", "content": found }),
    ];
    whole["content"].as_array_mut().unwrap().splice(0..0, blocks);
    for streams in [true, false] {
        rig.replies(if streams { streamed(Messages, &whole) } else { Reply::json(&whole) });
        let answer = rig.post(Messages, &Messages.prompt("Hi", streams)).await;
        assert_eq!(Messages.read(streams, &answer).text, "Yes.");
        assert!(answer.text.contains("web_search_tool_result_error"), "{}", answer.text);
        assert!(!answer.text.contains("c2VjcmV0"), "{}", answer.text);
    }
}

#[tokio::test]
async fn tools_that_are_denied_are_not_offered() {
    let hook = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
        "web_search" | "mcp__bank" => event.refuse("no"),
        _ => Flow::Continue,
    });
    let rig = Rig::with(HookSet::of(hook), |proxy| proxy.deny_tools(["rm*"]).unwrap()).await;
    let mut request = Responses.prompt("Hi", false);
    request["tools"] = json!([
        { "type": "function", "name": "rm_all", "parameters": {} },
        { "type": "function", "name": "ls", "parameters": {} },
        { "type": "web_search" },
        { "type": "mcp", "server_label": "bank", "server_url": "https://bank.example" },
    ]);
    request["tool_choice"] = json!({ "type": "function", "name": "rm_all" });
    rig.replies(Responses.says(false, &["Yes."]));
    rig.post(Responses, &request).await;
    let sent = &rig.got()[0].body;
    assert_eq!(sent["tools"], json!([{ "type": "function", "name": "ls", "parameters": {} }]));
    assert!(sent.get("tool_choice").is_none());

    let mut request = Messages.prompt("Hi", false);
    request["tools"] = json!([{ "type": "web_search_20250305", "name": "web_search" }]);
    request["mcp_servers"] =
        json!([{ "type": "url", "name": "bank", "url": "https://bank.example" }]);
    rig.replies(Messages.says(false, &["Yes."]));
    rig.post(Messages, &request).await;
    let sent = &rig.got()[1].body;
    assert!(sent.get("tools").is_none() && sent.get("mcp_servers").is_none(), "{sent}");

    let mut request = Chat.prompt("Hi", false);
    request["tools"] = json!([{ "type": "function", "function": { "name": "rm" } }]);
    request["web_search_options"] = json!({});
    rig.replies(Chat.says(false, &["Yes."]));
    rig.post(Chat, &request).await;
    let sent = &rig.got()[2].body;
    assert!(sent.get("tools").is_none() && sent.get("web_search_options").is_none(), "{sent}");
}
