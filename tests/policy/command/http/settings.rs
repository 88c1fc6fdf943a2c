//! Servers in the settings of coding agents, and of projects.

use std::fs;

use hooks_agent_policy::command::{CommandHooks, CommandHooksError, Layer, Trust};
use serde_json::{Value, json};
use tracing::Level;

use crate::agents::{Log, assert_has, dir};
use crate::http::server::{Server, tool_call};

/// Opens a file with this handler of `PreToolUse`.
fn open(handler: &Value, layer: Layer, trust: &Trust) -> Result<CommandHooks, CommandHooksError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    let settings = json!({ "env": { "FILE_TOKEN": "6c1" }, "hooks": { "PreToolUse": [{ "hooks": [handler] }] } });
    fs::write(&path, settings.to_string()).unwrap();
    let builder = CommandHooks::builder(dir()).allow_hosts(["127.0.0.1"]).trust(trust.clone());
    builder.settings(path, layer).open()
}

fn of_user(handler: &Value) -> Result<CommandHooks, CommandHooksError> {
    open(handler, Layer::User, &Trust::default())
}

#[tokio::test]
async fn a_server_of_settings_is_asked() {
    let server = Server::denying("no writes").await;
    let handler = json!({
        "type": "http", "url": server.url(), "timeout": 5,
        "headers": { "Authorization": "Bearer $FILE_TOKEN", "X-From": "$HOME" },
        "allowedEnvVars": ["FILE_TOKEN", "HOME"],
    });
    tool_call(of_user(&handler).unwrap()).await.assert_refused("no writes");
    let (headers, _) = server.last();
    assert_eq!(headers["authorization"], "Bearer 6c1");
    assert_eq!(headers["x-from"], std::env::var("HOME").unwrap());
}

#[tokio::test]
async fn a_failure_goes_on_unless_the_file_says_that_it_blocks() {
    let server = Server::answering(500, "").await;
    let mut handler = json!({ "type": "http", "url": server.url() });
    let log = Log::up_to(Level::WARN);
    tool_call(of_user(&handler).unwrap()).await.assert_continues();
    let log = log.take();
    assert_has(&log, "lets the call go on if it fails, write `\"onFailure\": \"block\"`");
    assert!(!log.contains("SECRET"), "{log}");
    handler["onFailure"] = json!("block");
    tool_call(of_user(&handler).unwrap()).await.assert_refused("could not check this call");
}

#[test]
fn problems_have_the_place_of_their_field() {
    let refused = |handler: Value| of_user(&handler).unwrap_err().to_string();
    assert_has(&refused(json!({ "type": "http" })), "`url`: expected a text");
    let url = "http://127.0.0.1/";
    let error = refused(json!({ "type": "http", "url": url, "headers": { "x": "$FILE_TOKEN" } }));
    assert_has(&error, "`headers`: `x`: expected `FILE_TOKEN` among the variables");
    assert_has(&error, "\"allowedEnvVars\": [\"FILE_TOKEN\"]");
    let error = refused(json!({ "type": "http", "url": url, "headers": { "x": 1 } }));
    assert_has(&error, "`headers`: expected an object of texts");
    let error = refused(json!({ "type": "http", "url": url, "allowedEnvVars": "A" }));
    assert_has(&error, "`allowedEnvVars`: expected a list of names of variables");
    let error = refused(json!({ "type": "http", "url": url, "header": {} }));
    assert_has(&error, "unknown key `header`, did you mean `headers`?");
    let error = refused(json!({ "type": "http", "url": "https://example.com/" }));
    assert_has(&error, "settings.json:1:");
    assert_has(&error, "allow_hosts([\"example.com\"])");
}

#[test]
fn hosts_that_a_file_allows_are_not_applied() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    fs::write(&path, r#"{"allowedHttpHookUrls": ["https://example.com/*"]}"#).unwrap();
    let log = Log::up_to(Level::WARN);
    assert!(CommandHooks::builder(dir()).settings(path, Layer::User).open().is_ok());
    assert_has(&log.take(), "`allowedHttpHookUrls` is not applied here: the program allows hosts");
}

#[test]
fn a_server_of_a_project_needs_trust() {
    let handler = json!({
        "type": "http", "url": "http://127.0.0.1/check",
        "headers": { "Authorization": "Bearer $FILE_TOKEN", "x-key": "SECRET" },
        "allowedEnvVars": ["FILE_TOKEN"],
    });
    let trust = Trust::default();
    let error = open(&handler, Layer::Project, &trust).unwrap_err();
    let untrusted = error.untrusted().next().unwrap();
    assert_eq!(
        untrusted.command(),
        ["POST", "http://127.0.0.1/check", "header Authorization", "header x-key", "$FILE_TOKEN"]
    );
    assert!(!error.to_string().contains("SECRET"), "{error}");
    trust.add(untrusted.hash()).unwrap();
    assert!(open(&handler, Layer::Project, &trust).is_ok());
    for (key, value) in [
        ("url", json!("http://127.0.0.1/other")),
        ("headers", json!({ "Authorization": "$FILE_TOKEN" })),
        ("allowedEnvVars", json!(["FILE_TOKEN", "HOME"])),
    ] {
        let mut changed = handler.clone();
        changed[key] = value;
        assert_eq!(open(&changed, Layer::Project, &trust).unwrap_err().untrusted().count(), 1);
    }
}
