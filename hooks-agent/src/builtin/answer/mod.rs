//! Hooks that hold the answer to a type, and pass it on while it is written.
//!
//! See [the guide](crate::guide::builtin_answer).
