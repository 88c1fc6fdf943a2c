//! Tool calls on their way to the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hooks_agent_core::event::{Flow, PreActing};
use hooks_agent_core::hook::on;
use hooks_agent_core::react::HookSet;
use hooks_agent_guest::GuestThreads;
use hooks_agent_proxy::mcp::McpProxy;
use serde_json::{Value, json};

use crate::sides::{Sides, call, call_with, guard, proxy, request, result, text};

/// The text of an answer that is an error of the tool.
fn refusal(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn a_call_that_hooks_deny_is_answered_as_an_error_of_the_tool_and_not_sent() {
    let deny = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
        "mcp__bank__pay" => event.refuse("no payments"),
        _ => Flow::Continue,
    });
    let mut sides = Sides::of(proxy(deny));
    sides.agent.send(call("a", "pay")).await;
    let answer = sides.agent.read().await;
    assert_eq!((refusal(&answer), &answer["id"]), ("no payments", &json!("a")));
    sides.nothing_for_server().await;
}

#[tokio::test]
async fn a_call_that_hooks_ask_about_is_not_sent() {
    let ask = on(|event: &mut PreActing<'_>| event.ask("Pay 12 euros?"));
    let mut sides = Sides::of(proxy(ask));
    sides.agent.send(call(1, "pay")).await;
    let answer = sides.agent.read().await;
    assert_eq!(refusal(&answer), "nobody can be asked here: Pay 12 euros?");
    sides.nothing_for_server().await;
}

#[tokio::test]
async fn a_call_at_which_hooks_end_the_run_is_not_sent() {
    let stop = on(|event: &mut PreActing<'_>| event.stop());
    let mut sides = Sides::of(proxy(stop));
    sides.agent.send(call(1, "pay")).await;
    assert_eq!(sides.agent.read().await["result"]["isError"], true);
    sides.nothing_for_server().await;
}

#[tokio::test]
async fn a_call_at_which_hooks_panic_is_not_sent() {
    let panics = on(|_: &mut PreActing<'_>| -> Flow { panic!("hunter2") });
    let mut sides = Sides::of(proxy(panics));
    sides.agent.send(call(1, "pay")).await;
    let answer = sides.agent.read().await;
    assert!(!refusal(&answer).contains("hunter2"));
    sides.nothing_for_server().await;
}

#[tokio::test]
async fn arguments_that_hooks_change_go_on() {
    let change = on(|event: &mut PreActing<'_>| {
        event.tool_use_mut().input = json!({ "euros": 1 });
        Flow::Continue
    });
    let mut sides = Sides::of(proxy(change));
    sides.agent.send(call_with(1, "pay", &json!({ "euros": 12 }))).await;
    assert_eq!(sides.server.read().await, call_with(1, "pay", &json!({ "euros": 1 })));
}

#[tokio::test]
async fn what_hooks_let_pass_goes_on_as_it_was() {
    let mut sides = Sides::of(proxy(on(|_: &mut PreActing<'_>| Flow::Continue)));
    let call = json!({
        "jsonrpc": "2.0", "id": "x", "method": "tools/call", "unknown": [1],
        "params": { "name": "read", "arguments": { "n": 1.5 }, "_meta": { "progressToken": 7 } },
    });
    let answer = result("x", &text("12 euros"));
    assert_eq!(sides.answer(call, answer.clone()).await, answer);
}

#[tokio::test]
async fn calls_that_are_in_no_form_are_refused() {
    let mut sides = Sides::of(proxy(on(|_: &mut PreActing<'_>| Flow::Continue)));
    for params in [json!({}), json!({ "name": 1 }), json!({ "name": "pay", "arguments": [1] })] {
        let call = json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": params });
        sides.agent.send(call).await;
        let answer = sides.agent.read().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(4), &json!(-32602)));
    }
    sides.nothing_for_server().await;
}

#[tokio::test]
async fn a_server_without_a_name_gets_no_calls_until_it_says_its_own() {
    let names = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = names.clone();
    let note = on(move |event: &mut PreActing<'_>| {
        seen.lock().unwrap().push(event.tool_use().name.clone());
        Flow::Continue
    });
    let mut sides = Sides::of(McpProxy::new(guard(HookSet::of(note))));
    sides.agent.send(call(1, "pay")).await;
    assert!(refusal(&sides.agent.read().await).contains("--server NAME"));

    let said = json!({ "serverInfo": { "name": "My bank", "version": "1" } });
    sides.answer(request(2, "initialize"), result(2, &said)).await;
    let other = json!({ "serverInfo": { "name": "other", "version": "1" } });
    sides.answer(request(3, "initialize"), result(3, &other)).await;
    sides.answer(call(4, "pay"), result(4, &text("paid"))).await;
    assert_eq!(*names.lock().unwrap(), ["mcp__My_bank__pay"]);
}

#[tokio::test]
async fn calls_are_in_flight_at_once_and_answered_in_any_order() {
    let mut sides = Sides::of(proxy(on(|_: &mut PreActing<'_>| Flow::Continue)));
    for id in 0..50 {
        sides.agent.send(call(id, "read")).await;
        assert_eq!(sides.server.read().await["id"], id);
    }
    for id in (0..50).rev() {
        sides.server.send(result(id, &text("ok"))).await;
        assert_eq!(sides.agent.read().await, result(id, &text("ok")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_decision_that_takes_too_long_denies() {
    let calls = Arc::new(AtomicUsize::new(0));
    let hangs = hooks_agent_core::on!(async move |_: &mut PreActing<'_>| -> Flow {
        if calls.fetch_add(1, Ordering::SeqCst) == 0 {
            futures::future::pending::<()>().await;
        }
        Flow::Continue
    });
    let mut sides = Sides::of(proxy(hangs).deadline(Duration::from_mins(1)));
    sides.agent.send(call(1, "pay")).await;
    assert_eq!(refusal(&sides.agent.read().await), "the guard took too long");
    sides.agent.send(call(2, "pay")).await;
    assert_eq!(sides.server.read().await["id"], 2);
}

#[tokio::test]
async fn a_state_that_cannot_be_kept_denies() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    let mut threads = GuestThreads::open(&file).await.unwrap();
    threads
        .update("s", async |thread| {
            thread.values.insert("hunter2".into(), json!("hunter2"));
        })
        .await
        .unwrap();
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&file);
    let mut connection = sqlx::ConnectOptions::connect(&options).await.unwrap();
    sqlx::query("DROP TABLE guest_thread").execute(&mut connection).await.unwrap();
    let proxy = proxy(on(|_: &mut PreActing<'_>| Flow::Continue)).threads(threads).session("s");
    let mut sides = Sides::of(proxy);
    sides.agent.send(call(1, "pay")).await;
    assert_eq!(refusal(&sides.agent.read().await), "the guard could not keep its state");
    assert_eq!(sides.report().len(), 1);
    sides.nothing_for_server().await;
}
