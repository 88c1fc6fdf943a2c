//! Spans and metrics that a hook records, in memory.

use std::collections::BTreeMap;
use std::fmt::Write;

use hooks_agent_otel::{OpenTelemetry, OpenTelemetryBuilder};
use opentelemetry::trace::{SpanId, Status};
use opentelemetry::{Key, KeyValue, Value};
use opentelemetry_sdk::metrics::data::{
    AggregatedMetrics, MetricData, ResourceMetrics, ScopeMetrics,
};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};

/// Providers that keep everything.
pub(crate) struct Recorded {
    pub(crate) tracers: SdkTracerProvider,
    meters: SdkMeterProvider,
    spans: InMemorySpanExporter,
    metrics: InMemoryMetricExporter,
}

/// One series of a metric.
#[derive(Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) count: u64,
    pub(crate) sum: f64,
    pub(crate) bounds: Vec<f64>,
}

impl Recorded {
    pub(crate) fn new() -> Self {
        let (spans, metrics) = (InMemorySpanExporter::default(), InMemoryMetricExporter::default());
        let tracers = SdkTracerProvider::builder().with_simple_exporter(spans.clone()).build();
        let reader = PeriodicReader::builder(metrics.clone()).build();
        let meters = SdkMeterProvider::builder().with_reader(reader).build();
        Self { tracers, meters, spans, metrics }
    }

    /// A hook that records here, whatever the environment of the tests is.
    pub(crate) fn builder(&self) -> OpenTelemetryBuilder {
        let builder = OpenTelemetry::builder().environment(|_| None);
        builder.tracer_provider(&self.tracers).meter_provider(&self.meters)
    }

    pub(crate) fn hook(&self) -> OpenTelemetry {
        self.builder().build()
    }

    /// The spans that have ended, in the order in which they started.
    pub(crate) fn spans(&self) -> Vec<SpanData> {
        let mut spans = self.spans.get_finished_spans().unwrap();
        spans.sort_by_key(|span| span.start_time);
        spans
    }

    /// The only span of this name.
    pub(crate) fn span(&self, name: &str) -> SpanData {
        let mut spans = self.spans();
        spans.retain(|span| span.name == name);
        assert_eq!(spans.len(), 1, "spans named {name}");
        spans.remove(0)
    }

    /// The names of the spans, each below its parent.
    pub(crate) fn tree(&self) -> String {
        let (spans, mut tree) = (self.spans(), String::new());
        let is_root = |span: &&SpanData| {
            !spans.iter().any(|other| other.span_context.span_id() == span.parent_span_id)
        };
        for root in spans.iter().filter(is_root) {
            draw(root, &spans, 0, &mut tree);
        }
        tree
    }

    /// The metrics, by name.
    pub(crate) fn metrics(&self) -> BTreeMap<String, Vec<Point>> {
        self.metrics.reset();
        self.meters.force_flush().unwrap();
        let resources = self.metrics.get_finished_metrics().unwrap();
        let scopes = resources.iter().flat_map(ResourceMetrics::scope_metrics);
        let metrics = scopes.flat_map(ScopeMetrics::metrics);
        metrics.map(|metric| (metric.name().to_owned(), points(metric.data()))).collect()
    }
}

fn draw(span: &SpanData, spans: &[SpanData], depth: usize, tree: &mut String) {
    let error = if matches!(span.status, Status::Error { .. }) { " !" } else { "" };
    writeln!(tree, "{}{}{error}", "  ".repeat(depth), span.name).unwrap();
    let id = span.span_context.span_id();
    for child in spans.iter().filter(|child| child.parent_span_id == id && id != SpanId::INVALID) {
        draw(child, spans, depth + 1, tree);
    }
}

fn points(data: &AggregatedMetrics) -> Vec<Point> {
    match data {
        AggregatedMetrics::F64(MetricData::Histogram(histogram)) => histogram
            .data_points()
            .map(|point| Point {
                labels: labels(point.attributes()),
                count: point.count(),
                sum: point.sum(),
                bounds: point.bounds().collect(),
            })
            .collect(),
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        AggregatedMetrics::U64(MetricData::Histogram(histogram)) => histogram
            .data_points()
            .map(|point| Point {
                labels: labels(point.attributes()),
                count: point.count(),
                sum: point.sum() as f64,
                bounds: point.bounds().collect(),
            })
            .collect(),
        AggregatedMetrics::U64(MetricData::Sum(sum)) => sum
            .data_points()
            .map(|point| Point {
                labels: labels(point.attributes()),
                count: point.value(),
                sum: 0.0,
                bounds: Vec::new(),
            })
            .collect(),
        _ => panic!("no metric of this kind is expected"),
    }
}

fn labels<'a>(attributes: impl Iterator<Item = &'a KeyValue>) -> BTreeMap<String, String> {
    let text = |it: &KeyValue| (it.key.to_string(), it.value.as_str().into_owned());
    attributes.map(text).collect()
}

/// The value of an attribute of a span.
pub(crate) fn attribute(span: &SpanData, key: &'static str) -> Option<Value> {
    let key = Key::from_static_str(key);
    let mut found = span.attributes.iter().filter(|attribute| attribute.key == key);
    let value = found.next().map(|attribute| attribute.value.clone());
    assert!(found.next().is_none(), "{key} is there twice");
    value
}

/// The text of an attribute of a span.
pub(crate) fn text(span: &SpanData, key: &'static str) -> Option<String> {
    attribute(span, key).map(|value| value.as_str().into_owned())
}
