//! Environment variables for content, names, receivers and times.

use std::time::Duration;

use hooks_agent_core::prelude::*;
use hooks_agent_otel::{Capture, OpenTelemetry};

use crate::receiver::Receiver;
use crate::recorded::Recorded;

#[test]
fn the_capture_is_read_in_upper_and_lower_case() {
    for (text, capture) in [
        ("no_content", Capture::Nothing),
        ("span_only", Capture::Spans),
        (" SPAN_ONLY ", Capture::Spans),
        ("true", Capture::Spans),
        ("True", Capture::Spans),
        ("event_only", Capture::Events),
        ("span_and_event", Capture::Both),
        ("SPAN_AND_EVENT", Capture::Both),
        ("false", Capture::Nothing),
        ("1", Capture::Nothing),
        ("", Capture::Nothing),
    ] {
        assert_eq!(Capture::from_text(text), capture, "{text:?}");
        assert_eq!(capture.is_on(), capture != Capture::Nothing);
    }
}

#[tokio::test]
async fn the_opt_in_is_one_of_a_list() {
    for (text, is_newest) in [
        ("gen_ai_latest_experimental", true),
        ("http/dup, gen_ai_latest_experimental ,database", true),
        ("gen_ai_latest_experimental_2", false),
        ("http", false),
    ] {
        let recorded = Recorded::new();
        let hook = recorded.builder().environment(move |name| {
            (name == "OTEL_SEMCONV_STABILITY_OPT_IN").then(|| text.to_owned())
        });
        let model = ScriptedModel::new("m", |_| "Done.");
        let agent = ReActAgent::builder("a").model(model).hook(hook.build()).build().unwrap();
        agent.call("Go").await.unwrap();
        let names = recorded.metrics();
        assert_eq!(names.contains_key("gen_ai.client.inference.duration"), is_newest, "{text}");
        assert_eq!(names.contains_key("gen_ai.client.operation.duration"), !is_newest, "{text}");
    }
}

#[tokio::test]
async fn an_empty_address_of_one_signal_is_none() {
    let receiver = Receiver::start().await;
    let base = receiver.url.clone();
    let hook = OpenTelemetry::otlp().environment(move |name| match name {
        "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(base.clone()),
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" => Some(" ".to_owned()),
        _ => None,
    });
    let hook = hook.build().unwrap();
    let model = ScriptedModel::new("m", |_| "Done.");
    let agent = ReActAgent::builder("a").model(model).hook(hook.clone()).build().unwrap();
    agent.call("Go").await.unwrap();
    hook.shutdown().await.unwrap();
    assert_eq!(receiver.received.spans().len(), 2);
}

#[tokio::test]
async fn the_environment_says_how_long_a_receiver_is_waited_for() {
    let stalled = Receiver::stalled().await;
    let hook = OpenTelemetry::otlp()
        .endpoint(stalled)
        .environment(|name| (name == "OTEL_EXPORTER_OTLP_TIMEOUT").then(|| " 50 ".to_owned()));
    let hook = hook.build().unwrap();
    let model = ScriptedModel::new("m", |_| "Done.");
    let agent = ReActAgent::builder("a").model(model).hook(hook.clone()).build().unwrap();
    agent.call("Go").await.unwrap();
    // The default is 10 seconds, of which a shutdown waits for 5.
    let ended = tokio::time::timeout(Duration::from_secs(4), hook.shutdown()).await;
    assert!(ended.expect("it is given up").is_err());
}
