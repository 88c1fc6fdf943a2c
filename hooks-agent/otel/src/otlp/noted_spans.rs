//! Spans, with a note of those that did not arrive.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::SpanData;

/// Whether spans were lost since this was asked last: the processor of batches does not say it.
#[derive(Clone, Debug, Default)]
pub(super) struct Lost(Arc<AtomicBool>);

impl Lost {
    pub(super) fn check(&self) -> OTelSdkResult {
        if self.0.swap(false, Ordering::Relaxed) {
            let text = "the receiver did not take the spans".to_owned();
            return Err(OTelSdkError::InternalFailure(text));
        }
        Ok(())
    }
}

/// Sends spans, and notes whether they arrived.
#[derive(Debug)]
pub(super) struct NotedSpans {
    exporter: SpanExporter,
    lost: Lost,
}

impl NotedSpans {
    pub(super) fn new(exporter: SpanExporter, lost: Lost) -> Self {
        Self { exporter, lost }
    }
}

impl opentelemetry_sdk::trace::SpanExporter for NotedSpans {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let ended = self.exporter.export(batch).await;
        if ended.is_err() {
            self.lost.0.store(true, Ordering::Relaxed);
        }
        ended
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
