//! Spans and metrics that arrive at a receiver.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use futures::future::join_all;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::ModelOptions;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Calls;
use hooks_agent_otel::{Capture, OpenTelemetry, OtlpBuilder, OtlpError};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::json;

use crate::receiver::{Receiver, keys, series, texts};
use crate::spans::tool_then_text;
use crate::table::{METRICS, MetricRow, NEWEST_METRICS, SPANS};

fn otlp(url: &str) -> OtlpBuilder {
    OpenTelemetry::otlp().environment(|_| None).endpoint(url).service_name("test")
}

/// Two rounds with all options, a tool, and a hook that changes something.
async fn full_call(hook: OpenTelemetry) {
    let options = ModelOptions::new().max_tokens(50).temperature(0.5).top_p(0.25).stop("END");
    let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text("!"));
    let model = ScriptedModel::new("m", |request| -> ScriptedAnswer {
        let answer: ScriptedAnswer = match request.messages.last() {
            Some(msg) if msg.tool_results().next().is_some() => "all is well".into(),
            _ => ToolUse::new("call-1", "t", json!({})).into(),
        };
        answer.costing(Usage::new(10, 3))
    });
    let agent = ReActAgent::builder("a")
        .model(model)
        .model_options(options)
        .system_prompt("Be brief.")
        .tool(Calls::new("t").answers("ok"))
        .hook(sign)
        .hook(hook)
        .build()
        .unwrap();
    agent.call_with(CallOptions::new().thread("ada"), "Go").await.unwrap();
}

fn assert_spans(spans: &[Span], has_content: bool) {
    let names: Vec<_> = spans.iter().map(|span| &*span.name).collect();
    assert_eq!(names, ["invoke_agent a", "chat m", "execute_tool t", "chat m"]);
    for span in spans {
        let operation = span.name.split(' ').next().unwrap();
        let row = SPANS.iter().find(|row| row.operation == operation).unwrap();
        let mut expected = row.attributes.to_vec();
        if has_content {
            expected.extend(row.content);
        }
        expected.sort_unstable();
        assert_eq!(keys(&span.attributes), expected, "{}", span.name);
        assert_eq!(texts(&span.attributes)["gen_ai.operation.name"], operation);
        assert_eq!(span.kind() == SpanKind::Client, row.is_client);
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
        let parent = if operation == "invoke_agent" { &[][..] } else { &spans[0].span_id };
        assert_eq!(span.parent_span_id, parent);
    }
}

async fn assert_metrics(hook: OtlpBuilder, receiver: &Receiver, rows: &[MetricRow]) {
    let hook = hook.build().unwrap();
    full_call(hook.clone()).await;
    hook.shutdown().await.unwrap();
    let metrics = receiver.received.metrics();
    let names: Vec<_> = metrics.keys().map(String::as_str).collect();
    let expected: Vec<_> = rows.iter().map(|row| row.name).collect();
    assert_eq!(names, expected);
    for row in rows {
        let metric = &metrics[row.name];
        assert_eq!(metric.unit, row.unit, "{}", row.name);
        let (is_histogram, series) = series(metric);
        assert_eq!(is_histogram, row.is_histogram, "{}", row.name);
        for labels in series {
            assert_eq!(keys(labels), row.labels, "{}", row.name);
        }
    }
}

#[tokio::test]
async fn spans_arrive_as_the_table_says() {
    let receiver = Receiver::start().await;
    let hook = otlp(&receiver.url).build().unwrap();
    full_call(hook.clone()).await;
    hook.shutdown().await.unwrap();
    assert_spans(&receiver.received.spans(), false);
    let schema = "https://opentelemetry.io/schemas/1.41.0".to_owned();
    assert_eq!(receiver.received.sources(), [(schema, "test".to_owned())]);
}

#[tokio::test]
async fn spans_with_content_arrive_as_the_table_says() {
    let receiver = Receiver::start().await;
    let hook = otlp(&receiver.url).capture(Capture::Spans).build().unwrap();
    full_call(hook.clone()).await;
    hook.shutdown().await.unwrap();
    assert_spans(&receiver.received.spans(), true);
}

#[tokio::test]
async fn metrics_arrive_as_the_table_says() {
    let receiver = Receiver::start().await;
    assert_metrics(otlp(&receiver.url), &receiver, &METRICS).await;
}

// OT-12
#[tokio::test]
async fn the_newest_metrics_arrive_as_the_table_says() {
    let receiver = Receiver::start().await;
    let hook = otlp(&receiver.url).environment(|name| {
        (name == "OTEL_SEMCONV_STABILITY_OPT_IN").then(|| "gen_ai_latest_experimental".into())
    });
    assert_metrics(hook, &receiver, &NEWEST_METRICS).await;
}

// OT-10
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_calls_at_once_arrive_from_several_threads() {
    let receiver = Receiver::start().await;
    let hook = otlp(&receiver.url).build().unwrap();
    let agent =
        ReActAgent::builder("a").model(tool_then_text()).tool(Calls::new("t").answers("ok"));
    let agent = Arc::new(agent.hook(hook.clone()).build().unwrap());
    let calls = (0..8).map(|thread| {
        let options = CallOptions::new().thread(format!("thread-{thread}"));
        tokio::spawn(agent.clone().call_owned(options, "Go"))
    });
    for call in join_all(calls).await {
        call.unwrap().unwrap();
    }
    hook.shutdown().await.unwrap();
    let spans = receiver.received.spans();
    let mut traces: Vec<_> = spans.iter().map(|span| span.trace_id.clone()).collect();
    traces.sort();
    traces.dedup();
    assert_eq!((spans.len(), traces.len()), (32, 8));
}

#[tokio::test]
async fn a_flush_sends_what_there_is_and_more_may_follow() {
    let receiver = Receiver::start().await;
    let hook = otlp(&receiver.url).build().unwrap();
    full_call(hook.clone()).await;
    hook.flush().await.unwrap();
    assert_eq!(receiver.received.spans().len(), 4);
    full_call(hook.clone()).await;
    hook.shutdown().await.unwrap();
    hook.shutdown().await.unwrap();
    assert_eq!(receiver.received.spans().len(), 8);
    full_call(hook).await;
    assert_eq!(receiver.received.spans().len(), 8);
}

#[tokio::test]
async fn dropping_the_last_hook_sends_what_there_is() {
    let receiver = Receiver::start().await;
    full_call(otlp(&receiver.url).build().unwrap()).await;
    let arrived = async {
        while receiver.received.spans().is_empty() || receiver.received.metrics().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), arrived).await.unwrap();
    assert_eq!(receiver.received.spans().len(), 4);
}

#[tokio::test]
async fn a_receiver_that_refuses_or_stalls_does_not_affect_calls() {
    let dead = "http://127.0.0.1:1".to_owned();
    let refusing = Receiver::refusing(StatusCode::INTERNAL_SERVER_ERROR).await;
    for url in [dead, refusing, Receiver::stalled().await] {
        let hook = otlp(&url).timeout(Duration::from_millis(50)).build().unwrap();
        let started = std::time::Instant::now();
        for _ in 0..20 {
            full_call(hook.clone()).await;
        }
        assert!(started.elapsed() < Duration::from_secs(5), "{url}");
        let ended = hook.shutdown().await;
        assert!(matches!(ended, Err(OtlpError::Export(_))), "{url}: {ended:?}");
        assert!(started.elapsed() < Duration::from_secs(15), "{url}");
    }
}

#[test]
fn without_a_runtime_it_works_too() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let receiver = runtime.block_on(Receiver::start());
    let hook = otlp(&receiver.url).build().unwrap();
    futures::executor::block_on(full_call(hook.clone()));
    futures::executor::block_on(hook.shutdown()).unwrap();
    assert_eq!(receiver.received.spans().len(), 4);
}

#[tokio::test]
async fn the_environment_says_where_the_receiver_is() {
    let (common, of_traces) = (Receiver::start().await, Receiver::start().await);
    let (base, traces) = (format!("{}/", common.url), format!("{}/v1/traces", of_traces.url));
    let hook = OpenTelemetry::otlp().environment(move |name| match name {
        "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(base.clone()),
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" => Some(traces.clone()),
        _ => None,
    });
    let hook = hook.build().unwrap();
    full_call(hook.clone()).await;
    hook.shutdown().await.unwrap();
    assert_eq!(of_traces.received.spans().len(), 4);
    assert_eq!(common.received.spans().len(), 0);
    assert!(!common.received.metrics().is_empty());
}

#[test]
fn an_endpoint_that_is_no_url_is_an_error() {
    let ended = otlp("not a url").build();
    assert!(matches!(ended, Err(OtlpError::Build(_))));
}

#[tokio::test]
async fn the_environment_is_read_by_the_builder_alone() {
    let receiver = Receiver::start().await;
    let reads = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let of_hook = reads.clone();
    let count = move |_: &str| -> Option<String> {
        of_hook.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        None
    };
    let builder = otlp(&receiver.url).environment(count);
    assert_eq!(reads.load(std::sync::atomic::Ordering::Relaxed), 0);
    let hook = builder.build().unwrap();
    let built = reads.load(std::sync::atomic::Ordering::Relaxed);
    assert!(built > 0);
    full_call(hook.clone()).await;
    hook.shutdown().await.unwrap();
    assert_eq!(reads.load(std::sync::atomic::Ordering::Relaxed), built);
}
