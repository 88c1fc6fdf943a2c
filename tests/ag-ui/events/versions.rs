//! Clients of other versions of the protocol.

use hooks_agent_core::prelude::*;
use serde_json::json;

use crate::client::{Client, one, outcome};

#[tokio::test]
async fn clients_before_1_0_get_no_success_outcome() {
    let model = ScriptedModel::new("words", |_| "one");
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    let mut client = Client::new(agent);
    for version in [None, Some("0"), Some("0.9")] {
        client.version = version;
        let events = client.say("hi").await;
        assert!(one(&events, "RUN_FINISHED").get("outcome").is_none(), "{version:?}");
    }
}

#[tokio::test]
async fn clients_before_1_0_read_of_an_interrupt_in_a_custom_event() {
    let model = ScriptedModel::new("words", |_| "one two three");
    let interrupt = on(|event: &mut ReasoningChunk<'_>| event.context().interrupt());
    let agent = ReActAgent::builder("bot").model(model).hook(interrupt).build().unwrap();
    let mut client = Client::new(agent);
    client.version = Some("0.0.59");
    let events = client.say("hi").await;
    assert_eq!(one(&events, "CUSTOM")["name"], "hooks.cancelled");
    assert!(one(&events, "RUN_FINISHED").get("outcome").is_none());
}

#[tokio::test]
async fn a_newer_minor_version_is_served() {
    let model = ScriptedModel::new("words", |_| "one");
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    let mut client = Client::new(agent);
    for version in ["1.10", "10.0"] {
        client.version = Some(version);
        let events = client.say("hi").await;
        assert_eq!(events[0]["protocolVersion"], "1.0");
        assert_eq!(outcome(&events), &json!({ "type": "success" }), "{version}");
    }
}
