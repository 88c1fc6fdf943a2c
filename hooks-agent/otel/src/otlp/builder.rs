//! The builder of a hook with its own exporters, to a receiver of OTLP.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::builder::{OpenTelemetryBuilder, Settings};
use crate::capture::Capture;
use crate::hook::OpenTelemetry;
use crate::names;
use crate::otlp::error::OtlpError;
use crate::otlp::exporter::{Exporter, Target};

/// Where the receiver is if nothing says so.
const LOCAL: &str = "http://localhost:4318";
const TIMEOUT: Duration = Duration::from_secs(10);

/// Builds an [`OpenTelemetry`] hook that exports to a receiver of OTLP over HTTP, such as the collector.
///
/// | setting | default |
/// |---|---|
/// | [`endpoint`](OtlpBuilder::endpoint) | `OTEL_EXPORTER_OTLP_ENDPOINT`, or else `http://localhost:4318` |
/// | [`timeout`](OtlpBuilder::timeout) | `OTEL_EXPORTER_OTLP_TIMEOUT` in milliseconds, or else 10 s |
/// | [`service_name`](OtlpBuilder::service_name) | `OTEL_SERVICE_NAME` |
/// | headers | `OTEL_EXPORTER_OTLP_HEADERS` |
/// | [`capture`](OtlpBuilder::capture), [`content_limit`](OtlpBuilder::content_limit) | those of [`OpenTelemetryBuilder`](crate::OpenTelemetryBuilder) |
///
/// `none` in `OTEL_TRACES_EXPORTER` or `OTEL_METRICS_EXPORTER` leaves that signal out, `true` in
/// `OTEL_SDK_DISABLED` both. A receiver that takes no metrics, as those for traces alone do, is sent none
/// after it said so.
///
/// The variables of one signal, such as `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, win over the common ones.
/// So do those of the SDK apply, such as `OTEL_TRACES_SAMPLER` and `OTEL_BSP_MAX_QUEUE_SIZE`.
///
/// Everything is sent from threads of the exporters. A receiver that refuses or does not answer neither
/// slows nor fails a call: what does not fit the queue is dropped.
///
/// ```
/// use hooks_agent::builtin::observe::OpenTelemetry;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let telemetry = OpenTelemetry::otlp()
///     .endpoint("http://127.0.0.1:4318")
///     .service_name("support")
/// #   .timeout(std::time::Duration::from_millis(1))
///     .build()?;
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(telemetry.clone()).build()?;
/// agent.call("Go").await?;
/// if let Err(error) = telemetry.shutdown().await {
///     eprintln!("{error}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[must_use]
pub struct OtlpBuilder {
    endpoint: Option<String>,
    timeout: Option<Duration>,
    service_name: Option<String>,
    hook: OpenTelemetryBuilder,
}

impl OpenTelemetry {
    /// Starts a hook with its own exporters, to a receiver of OTLP over HTTP.
    pub fn otlp() -> OtlpBuilder {
        let hook = OpenTelemetry::builder();
        OtlpBuilder { endpoint: None, timeout: None, service_name: None, hook }
    }
}

impl OtlpBuilder {
    /// Sets the URL of the receiver, to which `/v1/traces` and `/v1/metrics` are added.
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = Some(url.into());
        self
    }

    /// Sets how long a request to the receiver may take, and how long
    /// [`shutdown`](OpenTelemetry::shutdown) waits for the spans.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the name of the service that is traced.
    pub fn service_name(mut self, name: impl Into<String>) -> Self {
        self.service_name = Some(name.into());
        self
    }

    /// Sets whether and where content is exported: see
    /// [`OpenTelemetryBuilder::capture`](crate::OpenTelemetryBuilder::capture).
    pub fn capture(mut self, capture: Capture) -> Self {
        self.hook = self.hook.capture(capture);
        self
    }

    /// Sets how many bytes of text an attribute may have: see
    /// [`OpenTelemetryBuilder::content_limit`](crate::OpenTelemetryBuilder::content_limit).
    pub fn content_limit(mut self, bytes: usize) -> Self {
        self.hook = self.hook.content_limit(bytes);
        self
    }

    /// Sets how the endpoint, the timeout and the variables of
    /// [`OpenTelemetryBuilder`](crate::OpenTelemetryBuilder::environment) are read, for
    /// tests. The default is [`std::env::var`].
    pub fn environment(
        mut self,
        read: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.hook = self.hook.environment(read);
        self
    }

    /// Builds the hook, and starts the threads of its exporters. Nothing is sent yet.
    ///
    /// # Errors
    /// [`OtlpError::Build`] if an endpoint is no URL, or a thread cannot be started.
    pub fn build(self) -> Result<OpenTelemetry, OtlpError> {
        let Self { endpoint, timeout, service_name, hook } = self;
        let endpoint = endpoint.as_deref();
        let settings = &hook.settings;
        let traces = url(settings, endpoint, names::ENV_TRACES_ENDPOINT, "/v1/traces");
        let metrics = url(settings, endpoint, names::ENV_METRICS_ENDPOINT, "/v1/metrics");
        let target = Target {
            traces: is_exported(settings, names::ENV_TRACES_EXPORTER).then_some(traces),
            metrics: is_exported(settings, names::ENV_METRICS_EXPORTER).then_some(metrics),
            timeout: timeout.unwrap_or_else(|| timeout_of(&hook.settings)),
            service_name,
        };
        let exporter = Exporter::start(target)?;
        let hook = hook.tracer_provider(exporter.tracers()).meter_provider(exporter.meters());
        let hook = hook.build();
        Ok(OpenTelemetry { exporter: Some(Arc::new(exporter)), ..hook })
    }
}

/// Returns the URL for one signal.
fn url(settings: &Settings, endpoint: Option<&str>, variable: &str, path: &str) -> String {
    let read = |name| (settings.environment)(name).filter(|text| !text.trim().is_empty());
    let of = |base: &str| format!("{}{path}", base.trim_end_matches('/'));
    match endpoint {
        Some(base) => of(base),
        None => read(variable)
            .unwrap_or_else(|| of(read(names::ENV_ENDPOINT).as_deref().unwrap_or(LOCAL))),
    }
}

/// Returns whether one signal is exported at all: its variable says `none` if it is not.
fn is_exported(settings: &Settings, variable: &str) -> bool {
    let says = |name, text: &str| {
        let value = (settings.environment)(name);
        value.is_some_and(|value| value.trim().eq_ignore_ascii_case(text))
    };
    !says(names::ENV_DISABLED, "true") && !says(variable, "none")
}

fn timeout_of(settings: &Settings) -> Duration {
    let text = (settings.environment)(names::ENV_TIMEOUT);
    let milliseconds = text.and_then(|text| text.trim().parse().ok());
    milliseconds.map_or(TIMEOUT, Duration::from_millis)
}

impl fmt::Debug for OtlpBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtlpBuilder").field("hook", &self.hook).finish_non_exhaustive()
    }
}
