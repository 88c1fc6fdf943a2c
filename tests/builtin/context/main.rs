//! Built-in hooks that keep the context small.
