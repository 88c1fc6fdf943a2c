//! `GenAiModel` against real HTTP servers on loopback that stream as the providers do.

mod anthropic;
mod connection;
mod gemini;
mod ollama;
mod openai;
mod provider;
mod refusal;
