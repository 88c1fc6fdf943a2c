//! A receiver of OTLP over HTTP on loopback.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;

/// What was received.
#[derive(Clone, Default)]
pub(crate) struct Received {
    traces: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
    metrics: Arc<Mutex<Vec<ExportMetricsServiceRequest>>>,
}

pub(crate) struct Receiver {
    pub(crate) url: String,
    pub(crate) received: Received,
}

impl Receiver {
    /// Starts a receiver, in a task of the test.
    pub(crate) async fn start() -> Self {
        let received = Received::default();
        let (traces, metrics) = (received.clone(), received.clone());
        let routes = Router::new()
            .route("/v1/traces", post(async move |body: Bytes| traces.add_traces(&body)))
            .route("/v1/metrics", post(async move |body: Bytes| metrics.add_metrics(&body)));
        Self { url: serve(routes).await, received }
    }

    /// Starts a receiver that takes spans alone, and answers metrics with this status.
    pub(crate) async fn of_spans(status: StatusCode) -> Self {
        let received = Received::default();
        let (traces, metrics) = (received.clone(), received.clone());
        let refuse = async move |body: Bytes| {
            metrics.add_metrics(&body);
            status
        };
        let routes = Router::new()
            .route("/v1/traces", post(async move |body: Bytes| traces.add_traces(&body)))
            .route("/v1/metrics", post(refuse));
        Self { url: serve(routes).await, received }
    }

    /// Starts a receiver that answers with this status.
    pub(crate) async fn refusing(status: StatusCode) -> String {
        serve(Router::new().fallback(async move || status)).await
    }

    /// Starts a receiver that never answers.
    pub(crate) async fn stalled() -> String {
        serve(Router::new().fallback(std::future::pending::<StatusCode>)).await
    }
}

async fn serve(routes: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await });
    url
}

impl Received {
    fn add_traces(&self, body: &[u8]) {
        self.traces.lock().unwrap().push(ExportTraceServiceRequest::decode(body).unwrap());
    }

    fn add_metrics(&self, body: &[u8]) {
        self.metrics.lock().unwrap().push(ExportMetricsServiceRequest::decode(body).unwrap());
    }

    /// The spans, in the order in which they started.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let traces = self.traces.lock().unwrap();
        let resources = traces.iter().flat_map(|request| &request.resource_spans);
        let scopes = resources.flat_map(|resource| &resource.scope_spans);
        let mut spans: Vec<_> = scopes.flat_map(|scope| scope.spans.clone()).collect();
        spans.sort_by_key(|span| span.start_time_unix_nano);
        spans
    }

    /// The schemas of the scopes, and the names of the services.
    pub(crate) fn sources(&self) -> Vec<(String, String)> {
        let traces = self.traces.lock().unwrap();
        let resources = traces.iter().flat_map(|request| &request.resource_spans);
        resources
            .map(|resource| {
                let attributes = &resource.resource.as_ref().unwrap().attributes;
                let service = texts(attributes).remove("service.name").unwrap_or_default();
                (resource.scope_spans[0].schema_url.clone(), service)
            })
            .collect()
    }

    /// How many requests with metrics came.
    pub(crate) fn sent_metrics(&self) -> usize {
        self.metrics.lock().unwrap().len()
    }

    /// The metrics, by name.
    pub(crate) fn metrics(&self) -> BTreeMap<String, Metric> {
        let metrics = self.metrics.lock().unwrap();
        let resources = metrics.iter().flat_map(|request| &request.resource_metrics);
        let scopes = resources.flat_map(|resource| &resource.scope_metrics);
        let metrics = scopes.flat_map(|scope| &scope.metrics);
        metrics.map(|metric| (metric.name.clone(), metric.clone())).collect()
    }
}

/// The keys of attributes, sorted.
pub(crate) fn keys(attributes: &[KeyValue]) -> Vec<&str> {
    let mut keys: Vec<_> = attributes.iter().map(|attribute| &*attribute.key).collect();
    keys.sort_unstable();
    keys
}

/// The texts of attributes that are texts.
pub(crate) fn texts(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |attribute: &KeyValue| match &attribute.value {
        Some(AnyValue { value: Some(any_value::Value::StringValue(text)) }) => {
            Some((attribute.key.clone(), text.clone()))
        }
        _ => None,
    };
    attributes.iter().filter_map(text).collect()
}

/// Whether it is a histogram, and the labels of each series.
pub(crate) fn series(metric: &Metric) -> (bool, Vec<&[KeyValue]>) {
    match metric.data.as_ref().unwrap() {
        Data::Histogram(it) => (true, it.data_points.iter().map(|it| &*it.attributes).collect()),
        Data::Sum(it) => (false, it.data_points.iter().map(|it| &*it.attributes).collect()),
        _ => panic!("no metric of this kind is expected"),
    }
}
