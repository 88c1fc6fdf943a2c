//! The builder of the hook.

use std::fmt;
use std::sync::Arc;

use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry::trace::{Span, Tracer, TracerProvider};
use opentelemetry::{InstrumentationScope, global};

use crate::capture::Capture;
use crate::hook::OpenTelemetry;
use crate::meters::Meters;
use crate::names;
use crate::shared::{OpenSpan, Shared};

/// Builds an [`OpenTelemetry`] hook.
///
/// ```
/// use hooks_agent::builtin::observe::{Capture, OpenTelemetry};
/// use opentelemetry_sdk::trace::SdkTracerProvider;
///
/// let tracers = SdkTracerProvider::default();
/// let hook = OpenTelemetry::builder()
///     .tracer_provider(&tracers)
///     .capture(Capture::Spans)
///     .content_limit(4096)
///     .build();
/// # let _ = hook;
/// ```
#[must_use]
pub struct OpenTelemetryBuilder {
    tracer: Option<Box<dyn OpenSpan>>,
    meter: Option<Meter>,
    pub(super) settings: Settings,
}

/// What is set apart from where it is sent.
pub(super) struct Settings {
    pub(super) capture: Option<Capture>,
    pub(super) limit: usize,
    pub(super) environment: Box<Environment>,
}

/// Reads an environment variable.
type Environment = dyn Fn(&str) -> Option<String> + Send + Sync;

impl OpenTelemetry {
    /// Starts a hook that records to providers of the program, or to the global ones.
    pub fn builder() -> OpenTelemetryBuilder {
        OpenTelemetryBuilder { tracer: None, meter: None, settings: Settings::default() }
    }
}

impl OpenTelemetryBuilder {
    /// Sets the provider of the spans. The default is the one that is global when the hook is built.
    pub fn tracer_provider<P>(mut self, provider: &P) -> Self
    where
        P: TracerProvider<Tracer: Send + Sync + 'static>,
        <P::Tracer as Tracer>::Span: Span + Send + Sync + 'static,
    {
        self.tracer = Some(Box::new(provider.tracer_with_scope(scope())));
        self
    }

    /// Sets the provider of the metrics. The default is the one that is global when the hook is built.
    pub fn meter_provider(mut self, provider: &impl MeterProvider) -> Self {
        self.meter = Some(provider.meter_with_scope(scope()));
        self
    }

    /// Sets whether and where content is exported. The default is what the environment variable
    /// `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` [says](Capture), or else nothing.
    pub fn capture(mut self, capture: Capture) -> Self {
        self.settings.capture = Some(capture);
        self
    }

    /// Sets how many bytes of text an attribute may have. Longer texts are cut, and of a request the
    /// oldest messages are left out. What is written stays JSON, whose structure does not count, and is
    /// therefore somewhat longer. The default is 64 KiB.
    pub fn content_limit(mut self, bytes: usize) -> Self {
        self.settings.limit = bytes;
        self
    }

    /// Sets how environment variables are read, for tests. The default is [`std::env::var`]. They are
    /// read when the hook is built, and never again.
    pub fn environment(
        mut self,
        read: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.settings.environment = Box::new(read);
        self
    }

    /// Builds the hook. If the environment variable `OTEL_SEMCONV_STABILITY_OPT_IN` contains
    /// `gen_ai_latest_experimental`, the metrics are those of the newest version of the conventions.
    pub fn build(self) -> OpenTelemetry {
        let Self { tracer, meter, settings } = self;
        let global = || Box::new(global::tracer_provider().tracer_with_scope(scope())) as Box<_>;
        let tracer = tracer.unwrap_or_else(global);
        let meter = meter.unwrap_or_else(|| global::meter_with_scope(scope()));
        OpenTelemetry { shared: Arc::new(settings.shared(tracer, &meter)), exporter: None }
    }
}

impl Settings {
    fn shared(self, tracer: Box<dyn OpenSpan>, meter: &Meter) -> Shared {
        let read = &self.environment;
        let from_environment =
            || read(names::ENV_CAPTURE).map_or(Capture::Nothing, |text| Capture::from_text(&text));
        let capture = self.capture.unwrap_or_else(from_environment);
        let opt_in = read(names::ENV_OPT_IN).unwrap_or_default();
        let is_newest = opt_in.split(',').any(|part| part.trim() == names::OPT_IN);
        Shared { tracer, meters: Meters::new(meter, is_newest), capture, limit: self.limit }
    }
}

impl Default for Settings {
    fn default() -> Self {
        let environment = Box::new(|name: &str| std::env::var(name).ok());
        Self { capture: None, limit: 64 * 1024, environment }
    }
}

fn scope() -> InstrumentationScope {
    InstrumentationScope::builder(names::SCOPE)
        .with_version(env!("CARGO_PKG_VERSION"))
        .with_schema_url(names::SCHEMA_URL)
        .build()
}

impl fmt::Debug for OpenTelemetryBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { capture, limit, .. } = &self.settings;
        f.debug_struct("OpenTelemetryBuilder")
            .field("capture", capture)
            .field("content_limit", limit)
            .finish_non_exhaustive()
    }
}
