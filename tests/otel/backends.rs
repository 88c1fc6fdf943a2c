//! Receivers that take one signal, and what the environment says about signals.

use std::time::Duration;

use axum::http::StatusCode;
use hooks_agent_core::prelude::*;
use hooks_agent_otel::{OpenTelemetry, OtlpError};

use crate::receiver::Receiver;

async fn call(hook: &OpenTelemetry) {
    let model = ScriptedModel::new("m", |_| "Done.");
    let agent = ReActAgent::builder("a").model(model).hook(hook.clone()).build().unwrap();
    agent.call("Go").await.unwrap();
}

#[tokio::test]
async fn a_receiver_of_spans_alone_is_no_error() {
    for status in
        [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED, StatusCode::NOT_IMPLEMENTED]
    {
        let receiver = Receiver::of_spans(status).await;
        let hook = OpenTelemetry::otlp().environment(|_| None).endpoint(&receiver.url);
        let hook = hook.build().unwrap();
        call(&hook).await;
        hook.flush().await.unwrap();
        call(&hook).await;
        hook.shutdown().await.unwrap();
        assert_eq!(receiver.received.spans().len(), 4, "{status}");
        assert_eq!(receiver.received.sent_metrics(), 1, "it is asked once: {status}");
    }
}

#[tokio::test]
async fn a_receiver_that_refuses_metrics_for_another_reason_is_an_error() {
    for status in [StatusCode::UNAUTHORIZED, StatusCode::BAD_REQUEST] {
        let receiver = Receiver::of_spans(status).await;
        let hook = OpenTelemetry::otlp().environment(|_| None).endpoint(&receiver.url);
        let hook = hook.build().unwrap();
        call(&hook).await;
        let ended = hook.shutdown().await;
        assert!(matches!(ended, Err(OtlpError::Export(_))), "{status}: {ended:?}");
    }
}

#[tokio::test]
async fn an_address_at_which_there_is_nothing_is_an_error() {
    let url = Receiver::refusing(StatusCode::NOT_FOUND).await;
    let hook = OpenTelemetry::otlp().environment(|_| None).endpoint(url).build().unwrap();
    call(&hook).await;
    assert!(matches!(hook.shutdown().await, Err(OtlpError::Export(_))));
}

#[tokio::test]
async fn the_environment_leaves_signals_out() {
    for (variable, value, spans, metrics) in [
        ("OTEL_METRICS_EXPORTER", "none", 2, false),
        ("OTEL_METRICS_EXPORTER", " None ", 2, false),
        ("OTEL_TRACES_EXPORTER", "none", 0, true),
        ("OTEL_SDK_DISABLED", "true", 0, false),
        ("OTEL_SDK_DISABLED", "false", 2, true),
        ("OTEL_METRICS_EXPORTER", "otlp", 2, true),
    ] {
        let receiver = Receiver::start().await;
        let hook = OpenTelemetry::otlp().endpoint(&receiver.url);
        let hook = hook.environment(move |name| (name == variable).then(|| value.to_owned()));
        let hook = hook.build().unwrap();
        call(&hook).await;
        hook.flush().await.unwrap();
        hook.shutdown().await.unwrap();
        assert_eq!(receiver.received.spans().len(), spans, "{variable}={value}");
        assert_eq!(receiver.received.sent_metrics() > 0, metrics, "{variable}={value}");
    }
}

#[tokio::test]
async fn spans_that_do_not_arrive_are_an_error_also_without_metrics() {
    for status in [StatusCode::NOT_FOUND, StatusCode::INTERNAL_SERVER_ERROR] {
        let url = Receiver::refusing(status).await;
        let hook = OpenTelemetry::otlp().endpoint(url).timeout(Duration::from_millis(200));
        let hook =
            hook.environment(|name| (name == "OTEL_METRICS_EXPORTER").then(|| "none".into()));
        let hook = hook.build().unwrap();
        call(&hook).await;
        let ended = hook.flush().await;
        assert!(matches!(ended, Err(OtlpError::Export(_))), "{status}: {ended:?}");
        hook.shutdown().await.unwrap();
    }
}
