//! Built-in hooks that observe: logs, times, metrics, audit.
