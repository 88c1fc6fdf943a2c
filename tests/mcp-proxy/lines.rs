//! What is on the streams beside messages that fit.

use std::time::Duration;

use hooks_agent_core::event::{Flow, PreActing};
use hooks_agent_core::hook::{AgentHook, on};
use serde_json::{Value, json};

use crate::sides::{Sides, call, masks, proxy, request, result, text};

fn passes() -> impl AgentHook {
    on(|_: &mut PreActing<'_>| Flow::Continue)
}

#[tokio::test]
async fn what_is_no_message_of_the_agent_is_answered_by_an_error() {
    let mut sides = Sides::of(proxy(passes()));
    let cases = [
        ("no json", -32700, Value::Null),
        ("7", -32600, Value::Null),
        ("[]", -32600, Value::Null),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay"}}]"#,
            -32600,
            Value::Null,
        ),
        (r#"{"id":1,"method":"ping"}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":[1]}"#, -32600, json!("a")),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0"}"#, -32600, Value::Null),
    ];
    for (line, code, id) in cases {
        sides.agent.write(format!("{line}\n").as_bytes()).await;
        let answer = sides.agent.read().await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{line}");
    }
    sides.nothing_for_server().await;
}

#[tokio::test]
async fn what_is_no_message_of_the_server_is_dropped() {
    let mut sides = Sides::of(proxy(passes()));
    sides.agent.send(request(1, "x")).await;
    sides.server.read().await;
    let lines = [
        "starting hunter2",
        r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"1","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":"hunter2","message":""}}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"id":1,"result":{}}"#,
    ];
    for line in lines {
        sides.server.write(format!("{line}\r\n\n").as_bytes()).await;
    }
    sides.server.send(result(1, &json!({ "text": "ok" }))).await;
    assert_eq!(sides.agent.read().await, result(1, &json!({ "text": "ok" })));
    assert_eq!(sides.report().len(), lines.len());
    assert!(!sides.report().concat().contains("hunter2"));
}

#[tokio::test]
async fn a_line_of_more_than_32_mib_is_not_sent_on_and_the_next_one_is() {
    let mut sides = Sides::of(proxy(passes()));
    let long = vec![b' '; 32 * 1024 * 1024 + 1];
    sides.agent.write(&long).await;
    sides.agent.write(b"\n").await;
    assert_eq!(sides.agent.read().await["error"]["message"], "it is longer than 32 MiB");
    sides.nothing_for_server().await;

    let mut sides = Sides::of(proxy(passes()));
    sides.server.write(&long).await;
    sides.server.write(b"\n").await;
    sides.nothing_for_agent().await;
    assert_eq!(
        sides.report(),
        ["a message of the MCP server is dropped: it is longer than 32 MiB"]
    );

    // The only call that waits is the one that it answered.
    let mut sides = Sides::of(proxy(passes()));
    sides.agent.send(call(1, "read")).await;
    sides.server.read().await;
    sides.server.write(&long).await;
    sides.server.write(b"\n").await;
    let answer = sides.agent.read().await;
    assert_eq!(answer["id"], 1);
    assert_eq!(answer["error"]["message"], "the answer is longer than 32 MiB");
    for id in [2, 3] {
        sides.agent.send(call(id, "read")).await;
        sides.server.read().await;
    }
    sides.server.write(&long).await;
    sides.server.write(b"\n").await;
    for id in [2, 3] {
        sides.server.send(result(id, &json!({ "text": "ok" }))).await;
        assert_eq!(sides.agent.read().await, result(id, &json!({ "text": "ok" })));
    }
}

#[tokio::test]
async fn of_two_fields_of_a_name_hooks_and_the_server_read_the_same_one() {
    let deny = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
        "mcp__bank__pay" => event.refuse("no payments"),
        _ => Flow::Continue,
    });
    let mut sides = Sides::of(proxy(deny));
    for [first, last] in [["read", "pay"], ["pay", "read"]] {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\
             \"params\":{{\"name\":\"{first}\",\"name\":\"{last}\"}}}}\n"
        );
        sides.agent.write(line.as_bytes()).await;
        if last == "pay" {
            assert_eq!(sides.agent.read().await["result"]["isError"], true);
        } else {
            assert_eq!(sides.server.read().await["params"], json!({ "name": "read" }));
        }
    }
}

#[tokio::test]
async fn a_request_with_the_id_of_one_that_waits_is_dropped() {
    let mut sides = Sides::of(proxy(passes()));
    sides.agent.send(call(1, "read")).await;
    sides.server.read().await;
    sides.agent.send(call(1, "pay")).await;
    // A text is another id than a number.
    sides.agent.send(call("1", "read")).await;
    assert_eq!(sides.server.read().await, call("1", "read"));
    for id in [json!(1), json!("1")] {
        sides.server.send(result(id.clone(), &text("ok"))).await;
        assert_eq!(sides.agent.read().await["id"], id);
    }
    // It may be used again.
    sides.agent.send(call(1, "read")).await;
    assert_eq!(sides.server.read().await, call(1, "read"));
}

#[tokio::test]
async fn an_answer_comes_once_and_only_to_a_request() {
    let mut sides = Sides::of(proxy(passes()));
    sides.agent.send(result(5, &json!({}))).await;
    sides.nothing_for_server().await;
    sides.server.send(result("the last", &json!({}))).await;
    sides.agent.read().await;
    sides.server.send(result("the last", &json!({ "text": "again" }))).await;
    sides.nothing_for_agent().await;
}

#[tokio::test]
async fn a_cancellation_goes_on_and_a_late_answer_is_still_read() {
    let mut sides = Sides::of(proxy(masks()));
    sides.agent.send(call(1, "read")).await;
    sides.server.read().await;
    let params = json!({ "requestId": 1, "reason": "enough" });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    sides.agent.send(cancel.clone()).await;
    assert_eq!(sides.server.read().await, cancel);
    sides.server.send(result(1, &text("hunter2"))).await;
    assert_eq!(sides.agent.read().await, result(1, &text("*******")));
}

#[tokio::test]
async fn a_server_that_ends_leaves_no_call_without_an_answer() {
    let mut sides = Sides::of(proxy(passes()));
    for id in [1, 2] {
        sides.agent.send(call(id, "read")).await;
        sides.server.read().await;
    }
    sides.server.send(result(2, &text("ok"))).await;
    sides.server.close().await;
    assert_eq!(sides.agent.read().await, result(2, &text("ok")));
    let answer = sides.agent.read().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32000)));
    assert_eq!(sides.agent.next().await, None);
    sides.ended.await.unwrap();
}

#[tokio::test]
async fn an_agent_that_ends_has_the_answers_that_come_in_time() {
    let mut sides = Sides::of(proxy(passes()).grace(Duration::from_hours(1)));
    sides.agent.send(call(1, "read")).await;
    sides.server.read().await;
    sides.agent.close().await;
    // The input of the server ends.
    assert_eq!(sides.server.next().await, None);
    sides.server.send(result(1, &text("ok"))).await;
    assert_eq!(sides.agent.read().await, result(1, &text("ok")));
    sides.server.close().await;
    sides.ended.await.unwrap();
}

#[tokio::test]
async fn a_server_that_goes_on_after_the_grace_time_is_left() {
    let mut sides = Sides::of(proxy(passes()).grace(Duration::ZERO));
    sides.agent.send(call(1, "read")).await;
    sides.server.read().await;
    sides.agent.close().await;
    assert_eq!(sides.agent.read().await["error"]["message"], "the MCP server has ended");
    sides.ended.await.unwrap();
}
