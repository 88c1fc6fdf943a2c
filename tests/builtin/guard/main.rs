//! Built-in hooks that guard: what an agent may say, read and do.

mod pii_detectors;
mod pii_overlap;
mod pii_replacement;
mod pii_set;
mod pii_stream;
mod words;
