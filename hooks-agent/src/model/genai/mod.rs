//! Models behind HTTP APIs, through the crate `genai`.
//!
//! Always the streaming endpoint: a malformed tool argument would fail a whole answer of the
//! other one, with an error that prints the request. Errors of the crate are never passed on:
//! their texts can hold the prompt or the key.

mod answer;
mod connection;
mod exchange;
mod mark;
mod model;
mod provider;
mod request;

pub use model::GenAiModel;
