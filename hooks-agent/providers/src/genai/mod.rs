//! Models behind HTTP APIs, through the crate `genai`.
//!
//! Always uses the streaming endpoint: on the other one, a malformed tool argument fails the whole
//! answer, with an error that prints the request. Errors of the crate are never passed on, because
//! their texts can contain the prompt or the key: of a provider's error, only the message, the id
//! of the request and the time to wait are read.

mod answer;
mod attachment;
mod client;
mod connection;
mod endpoint;
mod exchange;
mod mark;
mod model;
mod provider;
mod redact;
mod report;
mod request;

pub use model::GenAiModel;
