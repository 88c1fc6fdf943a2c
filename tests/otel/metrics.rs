//! The metrics.

use std::collections::BTreeMap;

use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};

use crate::recorded::{Point, Recorded};
use crate::spans::tool_then_text;

const LATEST: &str = "OTEL_SEMCONV_STABILITY_OPT_IN";

fn labels<const N: usize>(labels: [(&str, &str); N]) -> BTreeMap<String, String> {
    labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
}

fn only(points: &[Point]) -> &Point {
    assert_eq!(points.len(), 1);
    &points[0]
}

fn agent(recorded: &Recorded, is_newest: bool) -> ReActAgent {
    let hook = recorded.builder().environment(move |name| {
        (is_newest && name == LATEST).then(|| "http, gen_ai_latest_experimental".to_owned())
    });
    let agent = ReActAgent::builder("a").model(tool_then_text());
    agent.tool(Calls::new("t").answers("ok")).hook(hook.build()).build().unwrap()
}

#[tokio::test]
async fn tokens_times_and_chunks_are_measured_by_their_labels() {
    let recorded = Recorded::new();
    agent(&recorded, false).call("Go").await.unwrap();
    let metrics = recorded.metrics();
    let names: Vec<_> = metrics.keys().map(String::as_str).collect();
    let expected = [
        "gen_ai.client.operation.duration",
        "gen_ai.client.operation.time_to_first_chunk",
        "gen_ai.client.token.usage",
    ];
    assert_eq!(names, expected);

    let model = [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.model", "m"),
    ];
    let duration = only(&metrics["gen_ai.client.operation.duration"]);
    assert_eq!((duration.labels.clone(), duration.count), (labels(model), 2));
    assert_eq!(duration.bounds.len(), 14);
    assert_eq!((duration.bounds[0], duration.bounds[13]), (0.01, 81.92));
    let tokens = &metrics["gen_ai.client.token.usage"];
    for (kind, sum) in [("input", 20.0), ("output", 6.0)] {
        let mut expected = labels(model);
        expected.extend(labels([("gen_ai.response.model", "m"), ("gen_ai.token.type", kind)]));
        let point = tokens.iter().find(|point| point.labels == expected).unwrap();
        assert_eq!((point.count, point.sum), (2, sum));
        assert_eq!((point.bounds.len(), point.bounds[13]), (14, 67_108_864.0));
    }
}

#[tokio::test]
async fn each_chunk_after_the_first_is_measured() {
    let recorded = Recorded::new();
    let model = ScriptedModel::new("m", |_| "one two three four");
    let agent = ReActAgent::builder("a").model(model).hook(recorded.hook()).build().unwrap();
    agent.call("Go").await.unwrap();
    let metrics = recorded.metrics();
    assert_eq!(only(&metrics["gen_ai.client.operation.time_to_first_chunk"]).count, 1);
    assert_eq!(only(&metrics["gen_ai.client.operation.time_per_output_chunk"]).count, 3);
}

// OT-11
#[tokio::test]
async fn tokens_that_are_not_reported_are_not_measured() {
    for name in [LATEST, "nothing"] {
        let recorded = Recorded::new();
        let hook = recorded
            .builder()
            .environment(move |of| (of == name).then(|| "gen_ai_latest_experimental".to_owned()));
        let model = ScriptedModel::new("m", |_| "Done.");
        let agent = ReActAgent::builder("a").model(model).hook(hook.build()).build().unwrap();
        agent.call("Go").await.unwrap();
        let metrics = recorded.metrics();
        assert!(metrics.keys().all(|name| !name.contains("token")), "{:?}", metrics.keys());
        let call = recorded.span("invoke_agent a");
        assert_eq!(crate::recorded::text(&call, "gen_ai.usage.input_tokens"), None);
    }
}

// OT-12
#[tokio::test]
async fn the_opt_in_has_the_newest_names_and_none_of_the_old() {
    let recorded = Recorded::new();
    agent(&recorded, true).call("Go").await.unwrap();
    let metrics = recorded.metrics();
    let names: Vec<_> = metrics.keys().map(String::as_str).collect();
    let expected = [
        "gen_ai.client.inference.duration",
        "gen_ai.client.inference.operation.input_tokens",
        "gen_ai.client.inference.operation.output_tokens",
        "gen_ai.client.inference.time_to_first_chunk",
        "gen_ai.client.inference.usage.input_tokens",
        "gen_ai.client.inference.usage.output_tokens",
        "gen_ai.execute_tool.duration",
        "gen_ai.invoke_agent.duration",
        "gen_ai.invoke_agent.inference_calls",
        "gen_ai.invoke_agent.tool_calls",
    ];
    assert_eq!(names, expected);
    assert_eq!(only(&metrics["gen_ai.client.inference.usage.input_tokens"]).count, 20);
    let output = only(&metrics["gen_ai.client.inference.operation.output_tokens"]);
    assert_eq!((output.count, output.sum), (2, 6.0));
    let inferences = only(&metrics["gen_ai.invoke_agent.inference_calls"]);
    assert_eq!((inferences.count, inferences.sum), (1, 2.0));
    let tools = only(&metrics["gen_ai.invoke_agent.tool_calls"]);
    assert_eq!((tools.sum, &tools.labels), (1.0, &labels([("gen_ai.agent.name", "a")])));
    let tool = only(&metrics["gen_ai.execute_tool.duration"]);
    assert_eq!(tool.labels, labels([("gen_ai.tool.name", "t")]));
}

#[tokio::test]
async fn an_error_is_a_label_of_the_duration_and_no_id_is() {
    let recorded = Recorded::new();
    let script = Script::new().fails(ModelError::status("m", 429));
    let agent = ReActAgent::builder("a").model(script).hook(recorded.hook()).build().unwrap();
    agent.call_with(CallOptions::new().thread("ada"), "Go").await.unwrap_err();
    let metrics = recorded.metrics();
    let point = only(&metrics["gen_ai.client.operation.duration"]);
    assert_eq!(point.labels["error.type"], "429");
    assert!(!format!("{metrics:?}").contains("ada"));
    assert!(!format!("{metrics:?}").contains(agent.id()));
}
