//! Hooks that hold the answer to a type, and pass it on while it is written.
//!
//! See [the guide](https://docs.rs/hooks-agent/latest/hooks_agent/guide/builtin_answer/index.html).

mod streaming;
#[cfg(feature = "structured-output")]
mod structured_output;

pub use streaming::{Slow, SseReceiver, StreamReceiver, StreamType, Streaming};
#[cfg(feature = "structured-output")]
pub use structured_output::{
    Mode, Partial, Problem, StructuredOutput, StructuredOutputBuilder, StructuredOutputError,
    Typed, TypedCalls, TypedStream,
};
