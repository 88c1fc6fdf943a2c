//! The providers with exporters, and the threads that they may be used on.

use std::fmt;
use std::thread;
use std::time::Duration;

use futures::channel::oneshot;
use hooks_core::BoxError;
use opentelemetry_otlp::{MetricExporter, Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;

use crate::otlp::error::OtlpError;
use crate::otlp::noted_spans::{Lost, NotedSpans};
use crate::otlp::optional_metrics::OptionalMetrics;

/// How long the exporters have to end, at most.
const PATIENCE: Duration = Duration::from_secs(5);

/// What exporters are built from.
pub(super) struct Target {
    /// The URL for spans, if they are exported.
    pub(super) traces: Option<String>,
    /// The URL for metrics, if they are exported.
    pub(super) metrics: Option<String>,
    pub(super) timeout: Duration,
    pub(super) service_name: Option<String>,
}

/// The providers of a hook. Their HTTP client blocks, so they are built, flushed and shut down on
/// threads of their own.
pub(crate) struct Exporter {
    providers: Providers,
}

#[derive(Clone)]
struct Providers {
    tracers: SdkTracerProvider,
    meters: SdkMeterProvider,
    lost: Lost,
    patience: Duration,
}

impl Exporter {
    pub(super) fn start(target: Target) -> Result<Self, OtlpError> {
        let building = thread::Builder::new().spawn(move || Providers::build(target));
        let built = building.map_err(|error| OtlpError::Build(error.into()))?.join();
        let panicked = |_| Err("the thread that builds them panicked".into());
        let providers = built.unwrap_or_else(panicked).map_err(OtlpError::Build)?;
        Ok(Self { providers })
    }

    pub(super) fn tracers(&self) -> &SdkTracerProvider {
        &self.providers.tracers
    }

    pub(super) fn meters(&self) -> &SdkMeterProvider {
        &self.providers.meters
    }

    pub(crate) async fn flush(&self) -> Result<(), OtlpError> {
        self.off_thread(Providers::flush).await
    }

    pub(crate) async fn shutdown(&self) -> Result<(), OtlpError> {
        self.off_thread(Providers::shutdown).await
    }

    async fn off_thread(&self, run: fn(&Providers) -> OTelSdkResult) -> Result<(), OtlpError> {
        let (sender, ended) = oneshot::channel();
        let providers = self.providers.clone();
        let started = thread::Builder::new().spawn(move || {
            let _ = sender.send(run(&providers));
        });
        started.map_err(|error| OtlpError::Export(error.into()))?;
        match ended.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(OtlpError::Export(error.into())),
            Err(_) => Err(OtlpError::Export("the thread that exports panicked".into())),
        }
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        let providers = self.providers.clone();
        // Nobody waits for it: this may be a thread of an async runtime.
        let started = thread::Builder::new().spawn(move || drop(providers.shutdown()));
        if let Err(error) = started {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(
                target: "hooks_agent::otel",
                error, "the last spans and metrics were not exported"
            );
        }
    }
}

impl Providers {
    fn build(target: Target) -> Result<Self, BoxError> {
        let Target { traces, metrics, timeout, service_name } = target;
        let resource = Resource::builder();
        let resource = match service_name {
            Some(name) => resource.with_service_name(name),
            None => resource,
        };
        let resource = resource.build();
        let lost = Lost::default();
        let mut tracers = SdkTracerProvider::builder().with_resource(resource.clone());
        if let Some(url) = traces {
            let spans = SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary);
            let spans = spans.with_endpoint(url).with_timeout(timeout).build()?;
            tracers = tracers.with_batch_exporter(NotedSpans::new(spans, lost.clone()));
        }
        let mut meters = SdkMeterProvider::builder().with_resource(resource);
        if let Some(url) = metrics {
            let metrics = MetricExporter::builder().with_http().with_protocol(Protocol::HttpBinary);
            let metrics = metrics.with_endpoint(url).with_timeout(timeout).build()?;
            meters = meters.with_periodic_exporter(OptionalMetrics::new(metrics));
        }
        Ok(Self {
            tracers: tracers.build(),
            meters: meters.build(),
            lost,
            patience: timeout.min(PATIENCE),
        })
    }

    fn flush(&self) -> OTelSdkResult {
        let spans = self.tracers.force_flush();
        self.meters.force_flush().and(spans).and(self.lost.check())
    }

    /// Shuts both down at once, so that a receiver that stalls is waited for once.
    fn shutdown(&self) -> OTelSdkResult {
        thread::scope(|scope| {
            let meters = scope.spawn(|| self.meters.shutdown_with_timeout(self.patience));
            let spans = again(self.tracers.shutdown_with_timeout(self.patience));
            let panicked = |_| Err(OTelSdkError::InternalFailure("a thread panicked".to_owned()));
            again(meters.join().unwrap_or_else(panicked)).and(spans).and(self.lost.check())
        })
    }
}

/// Shutting down again is no error.
fn again(ended: OTelSdkResult) -> OTelSdkResult {
    match ended {
        Err(OTelSdkError::AlreadyShutdown) => Ok(()),
        ended => ended,
    }
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exporter").finish_non_exhaustive()
    }
}
