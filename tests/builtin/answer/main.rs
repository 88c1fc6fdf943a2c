//! Built-in hooks that shape the answer.
