//! Hooks that hold the answer to a type, and pass it on while it is written.
//!
//! See [the guide](crate::guide::builtin_answer).

#[cfg(feature = "structured-output")]
mod structured_output;

#[cfg(feature = "structured-output")]
pub use structured_output::{
    Mode, Partial, Problem, StructuredOutput, StructuredOutputBuilder, StructuredOutputError,
    Typed, TypedCalls, TypedStream,
};
