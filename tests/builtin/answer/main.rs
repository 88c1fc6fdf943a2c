//! Built-in hooks that shape the answer.

mod streaming;
mod structured_output;
