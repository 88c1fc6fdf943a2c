//! A receiver of OTLP over HTTP, which a collector would be.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{Metric, number_data_point};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;

pub(crate) struct Receiver {
    pub(crate) url: String,
    spans: Arc<Mutex<Vec<Span>>>,
    metrics: Arc<Mutex<Vec<Metric>>>,
}

/// Starts a receiver in a task of its own.
pub(crate) async fn start() -> std::io::Result<Receiver> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let receiver = Receiver { url, spans: Arc::default(), metrics: Arc::default() };
    let (spans, metrics) = (receiver.spans.clone(), receiver.metrics.clone());
    let traces = async move |body: Bytes| {
        let Ok(request) = ExportTraceServiceRequest::decode(body) else {
            return StatusCode::BAD_REQUEST;
        };
        let scopes = request.resource_spans.into_iter().flat_map(|it| it.scope_spans);
        lock(&spans).extend(scopes.flat_map(|scope| scope.spans));
        StatusCode::OK
    };
    let metrics = async move |body: Bytes| {
        let Ok(request) = ExportMetricsServiceRequest::decode(body) else {
            return StatusCode::BAD_REQUEST;
        };
        let scopes = request.resource_metrics.into_iter().flat_map(|it| it.scope_metrics);
        lock(&metrics).extend(scopes.flat_map(|scope| scope.metrics));
        StatusCode::OK
    };
    let routes =
        Router::new().route("/v1/traces", post(traces)).route("/v1/metrics", post(metrics));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    Ok(receiver)
}

impl Receiver {
    /// Returns the spans as a tree.
    pub(crate) fn spans(&self) -> String {
        let mut spans = lock(&self.spans).clone();
        spans.sort_by_key(|span| span.start_time_unix_nano);
        let mut tree = String::new();
        draw(&spans, &[], 0, &mut tree);
        tree
    }

    /// Returns the metrics, a line for each series.
    pub(crate) fn metrics(&self) -> String {
        let mut lines = Vec::new();
        for metric in &*lock(&self.metrics) {
            let mut line = |attributes: &[KeyValue], value: String| {
                let (name, unit) = (&metric.name, &metric.unit);
                lines.push(format!("{name} {} {value} {unit}", texts(attributes)));
            };
            match &metric.data {
                Some(Data::Histogram(it)) => it.data_points.iter().for_each(|point| {
                    let sum = point.sum.unwrap_or_default();
                    line(&point.attributes, format!("{} times, {sum:.6}", point.count));
                }),
                Some(Data::Sum(it)) => it.data_points.iter().for_each(|point| {
                    let value = point.value.map(|value| match value {
                        number_data_point::Value::AsInt(count) => count.to_string(),
                        number_data_point::Value::AsDouble(sum) => sum.to_string(),
                    });
                    line(&point.attributes, value.unwrap_or_default());
                }),
                _ => {}
            }
        }
        lines.sort();
        lines.join("\n")
    }
}

/// Draws the spans below a parent.
fn draw(spans: &[Span], parent: &[u8], depth: usize, tree: &mut String) {
    for span in spans.iter().filter(|span| span.parent_span_id == parent) {
        let indent = "  ".repeat(depth);
        let micros = (span.end_time_unix_nano - span.start_time_unix_nano) / 1000;
        let _ = writeln!(tree, "{indent}{} ({micros} us)", span.name);
        let _ = writeln!(tree, "{indent}    {}", texts(&span.attributes));
        for event in &span.events {
            let _ = writeln!(tree, "{indent}    {}: {}", event.name, texts(&event.attributes));
        }
        draw(spans, &span.span_id, depth + 1, tree);
    }
}

fn texts(attributes: &[KeyValue]) -> String {
    let text = |attribute: &KeyValue| {
        format!("{}={}", attribute.key, attribute.value.as_ref().map(value).unwrap_or_default())
    };
    attributes.iter().map(text).collect::<Vec<_>>().join(" ")
}

fn value(of: &AnyValue) -> String {
    match &of.value {
        Some(any_value::Value::StringValue(text)) => text.clone(),
        Some(any_value::Value::IntValue(number)) => number.to_string(),
        Some(any_value::Value::DoubleValue(number)) => format!("{number:.6}"),
        Some(any_value::Value::BoolValue(is_set)) => is_set.to_string(),
        Some(any_value::Value::ArrayValue(array)) => {
            array.values.iter().map(value).collect::<Vec<_>>().join(",")
        }
        _ => String::new(),
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
