//! A server behind a URL.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use hooks_agent_builtin::limit::ToolCallLimit;
use hooks_agent_core::event::PreActing;
use hooks_agent_core::hook::on;
use hooks_agent_proxy::mcp::McpProxyError;
use serde_json::{Value, json};

use crate::endpoint::{Endpoint, Received, answer_of, body, handshake, stream};
use crate::sides::{call, masks, proxy, request, result, text};

fn says(received: &Received) -> Response {
    handshake(received).unwrap_or_else(|| body(&answer_of(received, &text("hunter2"))))
}

#[tokio::test]
async fn a_result_in_json_is_as_hooks_leave_it() {
    let endpoint = Endpoint::start(proxy(masks()), says).await;
    let answer = endpoint.ask(&call(1, "read")).await;
    assert_eq!(answer, (200, result(1, &text("*******"))));
}

#[tokio::test]
async fn a_call_that_hooks_deny_does_not_reach_the_server() {
    let deny = on(|event: &mut PreActing<'_>| event.refuse("no payments"));
    let endpoint = Endpoint::start(proxy(deny), says).await;
    let (status, answer) = endpoint.ask(&call(1, "pay")).await;
    assert_eq!((status, &answer["result"]["isError"]), (200, &json!(true)));
    assert!(endpoint.received().is_empty());
}

#[tokio::test]
async fn calls_that_come_at_once_count_one_after_the_other() {
    let endpoint =
        Endpoint::start(proxy(ToolCallLimit::all().thread(5).build().unwrap()), says).await;
    let ask = async |id| endpoint.ask(&call(id, "read")).await.1;
    let answers = futures::future::join_all((0..20).map(ask)).await;
    let denied = answers.iter().filter(|answer| answer["result"]["isError"] == true);
    assert_eq!((denied.count(), endpoint.received().len()), (15, 5));
}

#[tokio::test]
async fn headers_of_the_protocol_go_on_and_no_others() {
    let endpoint = Endpoint::start(proxy(masks()), says).await;
    let names = ["mcp-session-id", "mcp-protocol-version", "authorization", "last-event-id"];
    let mut post = endpoint.post(&call(1, "read")).header("cookie", "a=b").header("x-other", "1");
    for name in names {
        post = post.header(name, "value");
    }
    post.send().await.unwrap();
    let headers = &endpoint.received()[0].headers;
    assert!(names.iter().all(|name| headers[*name] == "value"), "{headers:?}");
    assert!(!headers.contains_key("cookie") && !headers.contains_key("x-other"), "{headers:?}");
}

#[tokio::test]
async fn a_session_is_that_of_the_server() {
    let endpoint = Endpoint::start(proxy(masks()), says).await;
    let answer = endpoint.post(&request(0, "initialize")).send().await.unwrap();
    assert_eq!(answer.headers()["mcp-session-id"], "s-1");
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let answer = endpoint.post(&note).header("mcp-session-id", "s-1").send().await.unwrap();
    assert_eq!(answer.status(), 202);
    let ended = endpoint.client.delete(&endpoint.url).header("mcp-session-id", "s-1");
    ended.send().await.unwrap();
    let last = endpoint.received().pop().unwrap();
    assert_eq!(
        (last.method.as_str(), &last.headers["mcp-session-id"]),
        ("DELETE", &"s-1".parse().unwrap())
    );
}

fn streams(received: &Received) -> Response {
    let note = json!({
        "jsonrpc": "2.0", "method": "notifications/progress",
        "params": { "progressToken": 1, "progress": 1, "message": "hunter2" },
    });
    let answer = answer_of(received, &text("hunter2"));
    let whole = format!(
        "id: 1\nretry: 10\ndata:\n\n: hunter2\n\nevent: message\nid: 2\ndata: {note}\n\n\
         event: other\ndata: hunter2\n\ndata: hunter2\n\nid: 3\r\ndata: {answer}\r\n\r\n"
    );
    stream(whole.as_bytes().chunks(7).map(|it| String::from_utf8(it.to_vec()).unwrap()).collect())
}

#[tokio::test]
async fn each_event_of_a_stream_is_as_hooks_leave_it() {
    let endpoint = Endpoint::start(proxy(masks()), streams).await;
    let (_, answer) = endpoint.ask(&call(1, "read")).await;
    let note = json!({
        "jsonrpc": "2.0", "method": "notifications/progress",
        "params": { "progressToken": 1, "progress": 1, "message": "*******" },
    });
    let left = result(1, &text("*******"));
    let expected =
        format!("id: 1\nretry: 10\ndata: \n\nid: 2\ndata: {note}\n\nid: 3\ndata: {left}\n\n");
    assert_eq!(answer, Value::String(expected));
    assert_eq!(endpoint.report().len(), 2);
}

#[tokio::test]
async fn the_stream_of_the_server_is_as_hooks_leave_it() {
    fn listens(received: &Received) -> Response {
        assert_eq!(received.headers["last-event-id"], "7");
        let params = json!({ "level": "info", "data": "hunter2" });
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params });
        stream(vec![format!("id: 8\ndata: {note}\n\n")])
    }
    let endpoint = Endpoint::start(proxy(masks()), listens).await;
    let get = endpoint.client.get(&endpoint.url).header("last-event-id", "7");
    let text = get.send().await.unwrap().text().await.unwrap();
    assert!(text.contains("*******") && !text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn a_request_of_the_server_is_answered_in_its_session() {
    fn asks(received: &Received) -> Response {
        let ask = json!({
            "jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
            "params": { "message": "hunter2?" },
        });
        match received.message.get("method") {
            None => StatusCode::ACCEPTED.into_response(),
            Some(_) => stream(vec![format!("id: 1\ndata: {ask}\n\n")]),
        }
    }
    let endpoint = Endpoint::start(proxy(masks()), asks).await;
    let in_session = |message: &Value, id: &str| {
        endpoint.post(message).header("mcp-session-id", id.to_owned()).send()
    };
    let asked = in_session(&call(1, "read"), "s").await.unwrap().text().await.unwrap();
    assert!(asked.contains("*******?"), "{asked}");
    let answer = result("q", &json!({ "action": "decline" }));
    assert_eq!(in_session(&answer, "other").await.unwrap().status(), 400);
    assert_eq!(in_session(&answer, "s").await.unwrap().status(), 202);
    assert_eq!(in_session(&answer, "s").await.unwrap().status(), 400);
    assert_eq!(endpoint.received().len(), 2);
}

#[tokio::test]
async fn sessions_have_ids_of_their_own() {
    fn waits(_: &Received) -> Response {
        stream(vec!["id: 1\ndata:\n\n".to_owned()])
    }
    let endpoint = Endpoint::start(proxy(masks()), waits).await;
    for (session, status) in [("a", 200), ("b", 200), ("a", 400)] {
        let post = endpoint.post(&call(1, "read")).header("mcp-session-id", session);
        assert_eq!(post.send().await.unwrap().status(), status);
    }
}

#[tokio::test]
async fn what_answers_nothing_is_an_error_of_the_request() {
    fn odd(received: &Received) -> Response {
        match received.message["params"]["name"].as_str().unwrap() {
            "page" => ([("content-type", "text/html")], "hunter2").into_response(),
            "text" => ([("content-type", "application/json")], "hunter2").into_response(),
            "other" => body(&result(2, &text("hunter2"))),
            "batch" => body(&json!([result(1, &text("hunter2"))])),
            "cut" => stream(vec!["data: hunter2".to_owned()]),
            "long" => {
                let long = vec![b' '; 32 * 1024 * 1024 + 1];
                ([("content-type", "application/json")], long).into_response()
            }
            _ => unreachable!(),
        }
    }
    let endpoint = Endpoint::start(proxy(masks()), odd).await;
    for tool in ["page", "text", "other", "batch", "long"] {
        let (status, answer) = endpoint.ask(&call(1, tool)).await;
        assert_eq!((status, &answer["id"]), (200, &json!(1)), "{tool}");
        assert_eq!(answer["error"]["message"], "the MCP server did not answer", "{tool}");
    }
    let (_, answer) = endpoint.ask(&call(1, "cut")).await;
    let answer = answer.as_str().unwrap().strip_prefix("data: ").unwrap();
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert_eq!(answer["error"]["message"], "the MCP server did not answer");
    assert!(!endpoint.report().concat().contains("hunter2"));
}

#[tokio::test]
async fn statuses_go_on_without_texts_that_nobody_has_read() {
    fn refuses(received: &Received) -> Response {
        let status = received.message["params"]["name"].as_str().unwrap().parse().unwrap();
        (StatusCode::from_u16(status).unwrap(), "hunter2").into_response()
    }
    let endpoint = Endpoint::start(proxy(masks()), refuses).await;
    for status in [400, 401, 404, 500] {
        let (seen, answer) = endpoint.ask(&call(1, &status.to_string())).await;
        assert_eq!(seen, status);
        assert_eq!(answer["error"]["message"], "the MCP server did not answer");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    fn redirects(_: &Received) -> Response {
        (StatusCode::TEMPORARY_REDIRECT, [("location", "/elsewhere")], "hunter2").into_response()
    }
    let endpoint = Endpoint::start(proxy(masks()), redirects).await;
    let (status, answer) = endpoint.ask(&call(1, "read")).await;
    assert_eq!((status, &answer["id"]), (502, &json!(1)));
    assert_eq!(endpoint.received().len(), 1);
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_an_error_of_the_request() {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let gone = listener.local_addr().unwrap();
    drop(listener);
    let router = proxy(masks()).into_router(format!("http://{gone}/secret-path")).unwrap();
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let post = client.post(url).header("content-type", "application/json");
    let answer = post.body(call(1, "read").to_string()).send().await.unwrap();
    assert_eq!(answer.status(), 502);
    let text = answer.text().await.unwrap();
    assert!(text.contains("cannot be reached") && !text.contains("secret-path"), "{text}");
}

#[tokio::test]
async fn pages_of_other_sites_are_not_let_in() {
    let endpoint = Endpoint::start(proxy(masks()), says).await;
    let evil = [
        ("host", "evil.example"),
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1.evil.example"),
        ("host", "localhost@evil.example"),
    ];
    for (name, value) in evil {
        let post = endpoint.post(&call(1, "read")).header(name, value);
        assert_eq!(post.send().await.unwrap().status(), 403, "{name}: {value}");
    }
    for (name, value) in
        [("host", "localhost:1"), ("host", "[::1]"), ("origin", "http://localhost:5")]
    {
        let post = endpoint.post(&call(1, "read")).header(name, value);
        assert_eq!(post.send().await.unwrap().status(), 200, "{name}: {value}");
    }
    assert_eq!(endpoint.received().len(), 3);
}

#[tokio::test]
async fn with_a_token_nobody_is_let_in_without_it() {
    let proxy = proxy(masks()).token("0123456789abcdef").unwrap();
    let endpoint = Endpoint::start(proxy, says).await;
    assert_eq!(endpoint.ask(&call(1, "read")).await.0, 407);
    for (token, status) in [("Bearer 0123456789abcdeX", 407), ("Bearer 0123456789abcdef", 200)] {
        let post = endpoint.post(&call(1, "read")).header("proxy-authorization", token);
        let post = post.header("host", "gateway.example");
        assert_eq!(post.send().await.unwrap().status(), status);
    }
    let received = endpoint.received();
    assert_eq!(received.len(), 1);
    assert!(!received[0].headers.contains_key("proxy-authorization"));
}

#[tokio::test]
async fn others_than_this_machine_are_let_in_by_a_token_alone() {
    let listener = tokio::net::TcpListener::bind(("0.0.0.0", 0)).await.unwrap();
    let refused = proxy(masks()).serve("http://127.0.0.1:1/mcp", listener).await;
    assert!(matches!(refused, Err(McpProxyError::Open { .. })), "{refused:?}");
    assert!(matches!(proxy(masks()).token("short"), Err(McpProxyError::WeakToken)));
}

#[tokio::test]
async fn bodies_of_agents_are_bounded_and_in_json() {
    let endpoint = Endpoint::start(proxy(masks()), says).await;
    let long = endpoint.client.post(&endpoint.url).header("content-type", "application/json");
    let long = long.body(vec![b' '; 32 * 1024 * 1024 + 1]).send().await;
    // The connection may end while the body is still sent.
    assert!(long.is_err() || long.is_ok_and(|answer| answer.status() == 413));
    let other = endpoint.client.post(&endpoint.url).body(call(1, "read").to_string());
    assert_eq!(other.send().await.unwrap().status(), 415);
    assert_eq!(endpoint.ask(&json!([call(1, "read")])).await.0, 400);
    assert!(endpoint.received().is_empty());
}
