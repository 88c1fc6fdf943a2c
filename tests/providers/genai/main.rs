//! `GenAiModel` against real HTTP servers on loopback that stream as the providers do.

mod anthropic;
mod client;
mod connection;
mod empty_texts;
mod gemini;
mod media;
mod misconfigured;
mod ollama;
mod openai;
mod provider;
mod refusal;
mod thoughts;
