//! Tools of a server, whether it is a process or behind a URL.

use std::sync::Arc;

use futures::future::{Either, join, select};
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::agent_hook;
use hooks_agent_core::event::ActingChunk;
use hooks_agent_core::message::{ContentBlock, MediaSource, Msg, ToolUse};
use hooks_agent_core::tool::ToolContext;
use hooks_agent_providers::McpError;
use hooks_fixtures::Records;
use serde_json::{Value, json};

use crate::everything::{LONG, agent, both, call, output, tool};

#[tokio::test]
async fn tools_are_listed_with_their_schemas() {
    for (server, _process) in both().await {
        let echo = tool(&server, "echo");
        assert_eq!(echo.description(), "Echoes back the input string");
        assert_eq!(echo.schema()["type"], "object");
        assert_eq!(echo.schema()["$schema"], Value::Null);
        assert_eq!(echo.schema()["properties"]["message"]["type"], "string");
        assert_eq!(echo.schema()["required"], json!(["message"]));
    }
}

#[tokio::test]
async fn the_text_of_a_result_is_its_texts_and_links_line_by_line() {
    for (server, _process) in both().await {
        assert_eq!(call(&server, "echo", json!({ "message": "hi" })).await.unwrap(), "Echo: hi");
        assert_eq!(
            call(&server, "get-resource-links", json!({ "count": 1 })).await.unwrap(),
            "Here are 1 resource links to resources available in this server:\n\
             [resource, demo://resource/dynamic/blob/1, text/plain]",
        );
    }
}

#[tokio::test]
async fn an_image_is_a_block_after_the_text() {
    for (server, _process) in both().await {
        let output = output(&server, "get-tiny-image", json!({})).await.unwrap();
        assert_eq!(output, "Here's the image you requested:\nThe image above is the MCP logo.");
        let [ContentBlock::Image(image)] = output.blocks() else { panic!("{output:?}") };
        assert_eq!(image.mime_type, "image/png");
        assert!(
            matches!(&image.source, MediaSource::Data(data) if data.starts_with("iVBORw0KGgo"))
        );
    }
}

#[tokio::test]
async fn the_bytes_of_a_resource_are_a_file() {
    for (server, _process) in both().await {
        let blob = json!({ "resourceType": "Blob", "resourceId": 1 });
        let output = output(&server, "get-resource-reference", blob).await.unwrap();
        let [ContentBlock::File(file)] = output.blocks() else { panic!("{output:?}") };
        assert_eq!(file.mime_type, "text/plain");
        assert_eq!(file.name.as_deref(), Some("1"));
    }
}

#[tokio::test]
async fn structured_content_is_the_structured_value() {
    for (server, _process) in both().await {
        let city = json!({ "location": "Chicago" });
        let output = output(&server, "get-structured-content", city).await.unwrap();
        let weather =
            json!({ "temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82 });
        assert_eq!(output.structured(), Some(&weather));
        assert_eq!(serde_json::from_str::<Value>(output.as_str()).unwrap(), weather);
    }
}

#[tokio::test]
async fn an_agent_uses_a_tool_of_a_server() {
    for (server, _process) in both().await {
        let agent = agent(&server, "get-sum", json!({ "a": 2, "b": 3 })).build().unwrap();
        let reply = agent.call(Msg::user("go")).await.unwrap();
        assert_eq!(reply.text(), "The sum of 2 and 3 is 5.");
    }
}

#[tokio::test]
async fn an_error_of_the_server_is_a_result_that_the_model_reads() {
    for (server, _process) in both().await {
        let agent = agent(&server, "echo", json!({})).build().unwrap();
        let reply = agent.call(Msg::user("go")).await.unwrap().text();
        assert!(reply.starts_with("error: "), "{reply}");
        assert!(reply.contains("expected string, received undefined at message"), "{reply}");
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_not_sent() {
    for (server, _process) in both().await {
        let error = call(&server, "echo", json!("hi")).await.unwrap_err();
        assert_eq!(error, "the arguments are not a JSON object: \"hi\"");
    }
}

struct Watch(Arc<Records<String>>);

#[agent_hook]
impl Watch {
    fn watch(&self, event: &ActingChunk<'_>) {
        self.0.push(event.chunk().to_owned());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_arrives_at_hooks_in_order_and_before_the_result() {
    for (server, _process) in both().await {
        let told = Arc::new(Records::new());
        let agent = agent(&server, LONG, json!({ "duration": 0.02, "steps": 20 }))
            .hook(Watch(told.clone()))
            .build()
            .unwrap();
        let reply = agent.call(Msg::user("go")).await.unwrap().text();
        assert!(reply.starts_with("Long running operation completed."), "{reply}");
        let expected: Vec<_> = (1..=20).map(|step| format!("{step}/20")).collect();
        assert_eq!(told.take(), expected);
    }
}

#[tokio::test]
async fn calls_at_the_same_time_get_their_own_results_and_progress() {
    for (server, _process) in both().await {
        let of_steps = async |steps: u32| {
            let told = Arc::new(Records::new());
            let agent = agent(&server, LONG, json!({ "duration": 0.01, "steps": steps }))
                .hook(Watch(told.clone()))
                .build()
                .unwrap();
            (agent.call(Msg::user("go")).await.unwrap().text(), told.take())
        };
        let ((two, told_two), (three, told_three)) = join(of_steps(2), of_steps(3)).await;
        assert!(two.ends_with("Steps: 2."), "{two}");
        assert!(three.ends_with("Steps: 3."), "{three}");
        assert_eq!(told_two, ["1/2", "2/2"]);
        assert_eq!(told_three, ["1/3", "2/3", "3/3"]);
    }
}

#[tokio::test]
async fn a_dropped_call_leaves_the_connection_usable() {
    for (server, _process) in both().await {
        let long = Box::pin(call(&server, LONG, json!({ "duration": 30, "steps": 1 })));
        let echo = Box::pin(call(&server, "echo", json!({ "message": "1" })));
        let Either::Right((Ok(first), long)) = select(long, echo).await else {
            panic!("half a minute has passed")
        };
        assert_eq!(first, "Echo: 1");
        drop(long);
        assert_eq!(call(&server, "echo", json!({ "message": "2" })).await.unwrap(), "Echo: 2");
    }
}

#[tokio::test]
async fn the_tools_of_a_closed_server_say_so() {
    for (server, _process) in both().await {
        let echo = tool(&server, "echo");
        server.close().await;
        let cx = ToolContext::detached(ToolUse::new("1", "echo", json!({ "message": "hi" })));
        let error = echo.call(cx).await.unwrap_err();
        assert!(matches!(error.downcast_ref(), Some(McpError::Ended { .. })), "{error}");
    }
}
