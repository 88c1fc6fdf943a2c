//! Hooks that keep what the model reads within its context window: shorter conversations, fewer tools,
//! a list of what is to be done.
//!
//! See [the guide](crate::guide::builtin_context).
