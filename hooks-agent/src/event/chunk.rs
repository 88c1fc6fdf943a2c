//! The events of chunks. They have no setters: to change a stream, hook `model_call` with a
//! [`Rewrite`](crate::Rewrite).

use std::fmt;
use std::sync::Arc;

use crate::agent::Agent;
use crate::call::CallContext;
use crate::event::accessors::of_a_call;
use crate::message::{ContentBlock, Msg, ToolUse};

macro_rules! model_chunk {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name<'a> {
            agent: &'a dyn Agent,
            cx: &'a CallContext,
            incremental: &'a ContentBlock,
            accumulated: &'a Arc<Msg>,
        }

        impl<'a> $name<'a> {
            /// Creates the event, for unit tests of hooks.
            #[must_use]
            pub fn new(
                agent: &'a dyn Agent,
                cx: &'a CallContext,
                incremental: &'a ContentBlock,
                accumulated: &'a Arc<Msg>,
            ) -> Self {
                Self { agent, cx, incremental, accumulated }
            }

            of_a_call!();

            /// Returns the chunk: text, thoughts, the signature that ends the thoughts, or a whole
            /// tool call.
            #[must_use]
            pub fn incremental(&self) -> &'a ContentBlock {
                self.incremental
            }

            /// Returns the partial message up to and including this chunk, with the usage once it
            /// is known.
            #[must_use]
            pub fn accumulated(&self) -> &'a Arc<Msg> {
                self.accumulated
            }
        }

        impl fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("incremental", &self.incremental)
                    .finish_non_exhaustive()
            }
        }
    };
}

model_chunk! {
    /// The event of a chunk of the model's answer. Chunks arrive in order; the next one is read
    /// from the model after all hooks have run for this one.
    ReasoningChunk
}

model_chunk! {
    /// The event of a chunk of the summary, in the same order as a [`ReasoningChunk`].
    SummaryChunk
}

/// The event of a tool that reports its progress.
pub struct ActingChunk<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    call: &'a ToolUse,
    chunk: &'a str,
}

impl<'a> ActingChunk<'a> {
    /// Creates the event, for unit tests of hooks.
    #[must_use]
    pub fn new(
        agent: &'a dyn Agent,
        cx: &'a CallContext,
        call: &'a ToolUse,
        chunk: &'a str,
    ) -> Self {
        Self { agent, cx, call, chunk }
    }

    of_a_call!();

    /// Returns the running tool call.
    #[must_use]
    pub fn tool_use(&self) -> &'a ToolUse {
        self.call
    }

    /// Returns the text of the progress.
    #[must_use]
    pub fn chunk(&self) -> &'a str {
        self.chunk
    }
}

impl fmt::Debug for ActingChunk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActingChunk")
            .field("call", &self.call)
            .field("chunk", &self.chunk)
            .finish_non_exhaustive()
    }
}
