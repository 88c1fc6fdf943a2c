//! What the server says, on its way to the agent.

use hooks_agent_core::event::{Flow, PostActing};
use hooks_agent_core::hook::on;
use serde_json::{Value, json};

use crate::sides::{Sides, call, masks, proxy, request, result, text};

#[tokio::test]
async fn a_text_of_a_result_is_as_hooks_leave_it() {
    let mut sides = Sides::of(proxy(masks()));
    assert_eq!(sides.result(text("it is hunter2")).await, text("it is *******"));
}

#[tokio::test]
async fn all_texts_of_a_result_are_as_hooks_leave_them() {
    let mut sides = Sides::of(proxy(masks()));
    let said = |word: &str| {
        json!({
            "content": [
                { "type": "text", "text": word, "annotations": { "audience": ["user"] } },
                { "type": "resource", "resource": { "uri": "file:///a", "text": word } },
                { "type": "resource_link", "uri": "file:///b", "name": word },
            ],
            "structuredContent": { "password": word, "list": [word, 1] },
            "isError": true,
        })
    };
    assert_eq!(sides.result(said("hunter2")).await, said("*******"));
}

#[tokio::test]
async fn images_and_meta_pass_beside_texts_that_change() {
    let mut sides = Sides::of(proxy(masks()));
    let said = |word: &str| {
        json!({
            "content": [
                { "type": "image", "data": "/9j/4AAQ", "mimeType": "image/jpeg", "_meta": { "n": 1 } },
                { "type": "text", "text": word },
                { "type": "resource", "resource": { "uri": "file:///a", "blob": "/9j/4AAQ" } },
            ],
            "_meta": { "trace": "hunter2" },
        })
    };
    assert_eq!(sides.result(said("hunter2")).await, said("*******"));
}

#[tokio::test]
async fn bytes_that_are_text_are_read_as_text() {
    let mut sides = Sides::of(proxy(masks()));
    // "hunter2" and "*******".
    let said = |blob: &str| {
        json!({ "content": [
            { "type": "resource", "resource": { "uri": "file:///a", "blob": blob } },
            { "type": "image", "data": blob, "mimeType": "image/svg+xml" },
        ] })
    };
    assert_eq!(sides.result(said("aHVudGVyMg==")).await, said("KioqKioqKg=="));
}

#[tokio::test]
async fn structured_content_that_looks_like_an_image_is_read() {
    let mut sides = Sides::of(proxy(masks()));
    let said = |word: &str| {
        let image = json!({ "type": "image", "data": word, "_meta": word, "content": [] });
        json!({ "content": [], "structuredContent": image })
    };
    assert_eq!(sides.result(said("hunter2")).await, said("*******"));
}

#[tokio::test]
async fn a_result_that_hooks_withhold_is_an_error_without_anything_of_it() {
    let panics = on(|_: &mut PostActing<'_>| -> Flow { panic!("hunter2") });
    let mut sides = Sides::of(proxy(panics));
    let said = json!({
        "content": [
            { "type": "text", "text": "hunter2" },
            { "type": "image", "data": "/9j/4AAQ", "mimeType": "image/jpeg" },
        ],
        "structuredContent": { "password": "hunter2" },
        "_meta": { "password": "hunter2" },
    });
    let left = sides.result(said).await;
    let reason = "[withheld: a hook could not check this call]";
    assert_eq!(left, json!({ "content": [{ "type": "text", "text": reason }], "isError": true }));
    assert_eq!(sides.report(), Vec::<String>::new());
}

#[tokio::test]
async fn errors_of_calls_are_as_hooks_leave_them() {
    let mut sides = Sides::of(proxy(masks()));
    let said = |word: &str| {
        json!({
            "jsonrpc": "2.0", "id": 1,
            "error": { "code": -32001, "message": word, "data": { "why": word } },
        })
    };
    assert_eq!(sides.answer(call(1, "read"), said("hunter2")).await, said("*******"));
}

#[tokio::test]
async fn fields_that_hooks_do_not_read_are_left_out() {
    let mut sides = Sides::of(proxy(masks()));
    let mut answer = result(1, &text("ok"));
    answer["hint"] = "hunter2".into();
    assert_eq!(sides.answer(call(1, "read"), answer).await, result(1, &text("ok")));
}

#[tokio::test]
async fn results_of_other_methods_are_as_hooks_leave_them() {
    let mut sides = Sides::of(proxy(masks()));
    let results = |word: &str| {
        [
            ("resources/read", json!({ "contents": [{ "uri": "file:///a", "text": word }] })),
            (
                "prompts/get",
                json!({ "messages": [
                { "role": "user", "content": { "type": "text", "text": word } },
            ] }),
            ),
            ("completion/complete", json!({ "completion": { "values": [word] } })),
            (
                "tools/list",
                json!({ "tools": [
                { "name": "read", "description": word, "inputSchema": { "title": word } },
            ] }),
            ),
            ("initialize", json!({ "instructions": word, "serverInfo": { "name": "s" } })),
            ("x/unknown", json!({ "text": word })),
        ]
    };
    for ((method, said), (_, left)) in results("hunter2").into_iter().zip(results("*******")) {
        let answer = sides.answer(request(1, method), result(1, &said)).await;
        assert_eq!(answer, result(1, &left), "{method}");
    }
}

#[tokio::test]
async fn what_hooks_withhold_of_other_methods_is_an_error() {
    let panics = on(|_: &mut PostActing<'_>| -> Flow { panic!("hunter2") });
    let mut sides = Sides::of(proxy(panics));
    let said = json!({ "contents": [{ "uri": "file:///a", "text": "hunter2" }] });
    let answer = sides.answer(request(1, "resources/read"), result(1, &said)).await;
    assert_eq!(answer["error"]["message"], "[withheld: a hook could not check this call]");
    assert_eq!(answer.get("result"), None);
}

#[tokio::test]
async fn requests_of_the_server_are_as_hooks_leave_them() {
    let mut sides = Sides::of(proxy(masks()));
    let sampling = |word: &str| {
        json!({
            "jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage",
            "params": {
                "messages": [{ "role": "user", "content": { "type": "text", "text": word } }],
                "systemPrompt": word, "maxTokens": 10,
            },
        })
    };
    let elicitation = |word: &str| {
        json!({
            "jsonrpc": "2.0", "id": "e", "method": "elicitation/create",
            "params": { "message": word, "requestedSchema": { "type": "object" } },
        })
    };
    for ask in [sampling as fn(&str) -> Value, elicitation] {
        sides.server.send(ask("hunter2")).await;
        let asked = sides.agent.read().await;
        assert_eq!(asked, ask("*******"));
        let answer = result(asked["id"].clone(), &json!({ "action": "decline" }));
        sides.agent.send(answer.clone()).await;
        assert_eq!(sides.server.read().await, answer);
    }
}

#[tokio::test]
async fn a_request_that_hooks_withhold_goes_back_to_the_server() {
    let panics = on(|_: &mut PostActing<'_>| -> Flow { panic!() });
    let mut sides = Sides::of(proxy(panics));
    let params = json!({ "message": "Your password?" });
    let ask =
        json!({ "jsonrpc": "2.0", "id": 9, "method": "elicitation/create", "params": params });
    sides.server.send(ask).await;
    let answer = sides.server.read().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(9), &json!(-32000)));
    sides.nothing_for_agent().await;
}

#[tokio::test]
async fn notifications_are_as_hooks_leave_them() {
    let mut sides = Sides::of(proxy(masks()));
    let log = |word: &str| {
        let params = json!({ "level": "info", "data": { "text": word } });
        json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params })
    };
    let progress = |word: &str| {
        let params = json!({ "progressToken": 4, "progress": 1, "message": word });
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
    };
    for note in [log as fn(&str) -> Value, progress] {
        sides.server.send(note("hunter2")).await;
        assert_eq!(sides.agent.read().await, note("*******"));
    }
}

#[tokio::test]
async fn notifications_that_hooks_withhold_are_dropped() {
    let panics = on(|_: &mut PostActing<'_>| -> Flow { panic!() });
    let mut sides = Sides::of(proxy(panics));
    let params = json!({ "level": "info", "data": "hunter2" });
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params });
    sides.server.send(note).await;
    sides.nothing_for_agent().await;
    assert_eq!(sides.report(), ["a message of the MCP server is dropped: hooks withhold it"]);
}
