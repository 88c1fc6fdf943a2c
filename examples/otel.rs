//! Traces and metrics of an agent, sent to a receiver on loopback that prints what it got.
//!
//! `cargo run --example otel --features otel`. With a collector, remove the endpoint:
//! `OTEL_EXPORTER_OTLP_ENDPOINT` says where it is.

use std::error::Error;

use hooks_agent::builtin::observe::OpenTelemetry;
use hooks_agent::message::Usage;
use hooks_agent::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[path = "otel/receiver.rs"]
mod receiver;

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// The name of the city.
    city: String,
}

/// Asks for the weather, then for a poem about it, and then answers.
fn editor() -> ScriptedModel {
    ScriptedModel::new("editor-model", |request| -> ScriptedAnswer {
        let results: Vec<_> = request.messages.iter().flat_map(Msg::tool_results).collect();
        let answer: ScriptedAnswer = match &*results {
            [] => ToolUse::new("call-1", "weather", json!({ "city": "Rome" })).into(),
            [_] => ToolUse::new("call-2", "poet", json!({ "task": "a poem on sun" })).into(),
            [.., poem] => format!("Here it is: {}", poem.output).into(),
        };
        answer.costing(Usage::new(200, 20))
    })
    .with_provider("openai")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let receiver = receiver::start().await?;
    let telemetry = OpenTelemetry::otlp().endpoint(&receiver.url).service_name("news").build()?;

    let weather = FunctionTool::new("weather", "Tells the weather.", async |place: Place| {
        format!("It is sunny in {}.", place.city)
    });
    let model = ScriptedModel::new("poet-model", |_| {
        ScriptedAnswer::from("The sun is up, and so am I.").costing(Usage::new(50, 9))
    });
    let poet = ReActAgent::builder("poet").model(model).build()?.to_tool("Writes poems");
    let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" - the editor"));
    let agent = ReActAgent::builder("editor")
        .model(editor())
        .tool(weather)
        .tool(poet)
        .hook(sign.named("sign"))
        // It is inherited by sub-agents, so the poet is in the same trace.
        .hook(telemetry.clone())
        .build()?;
    let reply = agent.call_with(CallOptions::new().thread("ada"), "A poem, please").await?;
    println!("{}\n", reply.text());

    telemetry.shutdown().await?;
    println!("{}", receiver.spans());
    println!("{}", receiver.metrics());
    Ok(())
}
