//! Commands of policy files that ask a server or a model.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::routing::post;
use hooks_agent_core::prelude::*;
use hooks_agent_policy::policy::{Policy, PolicyBuilder, PolicyFile};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{echo, echo_tool, go, results, script, uses};
use tokio::net::TcpListener;

/// A policy with this command of `PreToolUse`, which may ask servers on this machine.
fn policy(fields: &str) -> PolicyBuilder {
    let content = format!("version = 1\n[[command]]\nevent = \"PreToolUse\"\n{fields}\n");
    Policy::builder().session(PolicyFile::text("policy.toml", content)).allow_hosts(["127.0.0.1"])
}

fn error(fields: &str) -> String {
    policy(fields).open().unwrap_err().list()[0].to_string()
}

/// What the model reads of a tool call under a policy.
async fn under(policy: Policy) -> String {
    let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
    let tool = echo_tool(&Arc::new(Records::new()));
    let agent = ReActAgent::builder("assistant").model(model).tool(tool).hook_source(policy);
    let agent = agent.build().unwrap();
    agent.call(go()).await.unwrap();
    results(&agent)[0].1.clone()
}

#[tokio::test]
async fn a_server_of_a_file_refuses_a_tool_call() {
    let received = Arc::<Mutex<Vec<HeaderMap>>>::default();
    let noted = received.clone();
    let check = move |headers: HeaderMap, _: Bytes| async move {
        noted.lock().unwrap().push(headers);
        r#"{"decision": "block", "reason": "no echoes"}"#
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/check", post(check));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let policy = policy(&format!(
        "url = \"http://{address}/check\"\nheaders = {{ authorization = \"Bearer $TOKEN\" }}\n\
         env = {{ TOKEN = \"${{env:HOME}}\" }}"
    ));
    assert_eq!(under(policy.open().unwrap()).await, "! no echoes");
    let headers = received.lock().unwrap().pop().unwrap();
    let home = std::env::var("HOME").unwrap();
    assert_eq!(headers["authorization"], format!("Bearer {home}"));
}

#[tokio::test]
async fn a_model_refuses_a_tool_call_by_a_prompt_of_a_file() {
    let model = ScriptedModel::new("small", |_| r#"{"ok": false, "reason": "no echoes"}"#);
    let policy = policy("prompt = \"May it echo?\"").model(model);
    assert_eq!(under(policy.open().unwrap()).await, "! no echoes");
}

#[test]
fn mistakes_have_the_place_of_their_key() {
    let url = "url = \"http://127.0.0.1/\"\n";
    for (fields, expected) in [
        (
            "url = \"https://example.com/\"",
            "policy.toml:4:7: command[0].url: `example.com` is no host that the program allows, call \
             `allow_hosts([\"example.com\"])` of the builder",
        ),
        ("prompt = \"x\"", "policy.toml:4:10: command[0].prompt: the program gave no model"),
        (
            &format!("{url}headers = {{ x = \"$A\" }}"),
            "policy.toml:5:11: command[0].headers: `x`: expected `A` among the variables",
        ),
        (
            &format!("{url}headers = {{ x = \"${{env:HOME}}\" }}"),
            "policy.toml:5:17: command[0].headers.x: `${..}` is taken in `with` and in `env`",
        ),
        (
            &format!("{url}headers = \"x\""),
            "policy.toml:5:11: command[0].headers: expected a table of strings, found a string",
        ),
        (
            &format!("{url}exec = [\"true\"]"),
            "policy.toml:4:7: command[0].url: expected `exec` or `url`, found both",
        ),
        (
            "exec = [\"true\"]\nheaders = { x = \"y\" }",
            "policy.toml:5:11: command[0].headers: expected none: only requests to a `url`",
        ),
    ] {
        let error = error(fields);
        assert!(error.starts_with(expected), "{expected}\n{error}");
    }
}

#[test]
fn a_host_that_is_none_is_an_error() {
    let error = policy("exec = [\"true\"]").allow_hosts(["a/b"]).open().unwrap_err().to_string();
    assert!(error.contains("`allow_hosts`: expected a host such as"), "{error}");
}

#[test]
fn what_is_asked_is_printed_without_headers() {
    let fields = "url = \"http://127.0.0.1/check\"\nheaders = { x-key = \"SECRET\" }";
    let printed = policy(fields).check().unwrap().to_string();
    assert!(printed.contains("POST \"http://127.0.0.1/check\""), "{printed}");
    assert!(!printed.contains("SECRET"), "{printed}");
}
