//! Metrics for a receiver that may take none.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry_otlp::MetricExporter;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::Temporality;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;

/// How a receiver says that it takes no metrics: there is nothing at their address.
const REFUSED: [&str; 3] = ["status code: 404", "status code: 405", "status code: 501"];

/// Sends metrics until the receiver says that it takes none. Many take spans alone, and what they do not
/// take is not lost: whether spans arrive shows whether the address is right.
pub(super) struct OptionalMetrics {
    exporter: MetricExporter,
    is_refused: AtomicBool,
}

impl OptionalMetrics {
    pub(super) fn new(exporter: MetricExporter) -> Self {
        Self { exporter, is_refused: AtomicBool::new(false) }
    }
}

impl PushMetricExporter for OptionalMetrics {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        if self.is_refused.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Err(error) = self.exporter.export(metrics).await else { return Ok(()) };
        let text = error.to_string();
        if !REFUSED.iter().any(|refused| text.contains(refused)) {
            return Err(error);
        }
        self.is_refused.store(true, Ordering::Relaxed);
        tracing::warn!(
            target: "hooks_agent::otel",
            error = &error as &dyn std::error::Error,
            "the receiver takes no metrics, and none are sent: `OTEL_METRICS_EXPORTER=none` says so before"
        );
        Ok(())
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn temporality(&self) -> Temporality {
        self.exporter.temporality()
    }
}
