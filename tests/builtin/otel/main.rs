//! OpenTelemetry: spans and metrics of calls.
