//! Spans and metrics for OpenTelemetry.
