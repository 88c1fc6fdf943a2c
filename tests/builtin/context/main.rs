//! Built-in hooks that keep the context small.

mod auto_context;
mod summarization;
