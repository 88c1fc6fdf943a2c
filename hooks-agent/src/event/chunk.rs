//! The events of what comes piece by piece. They have no setters: to change a stream, hook
//! `model_call` with a [`Rewrite`](crate::Rewrite).

use std::fmt;
use std::sync::Arc;

use crate::agent::Agent;
use crate::context::CallContext;
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
            /// The event, for trying a hook out.
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

            /// What came: more text, more thoughts, the signature that ends them, or a whole tool
            /// call.
            #[must_use]
            pub fn incremental(&self) -> &'a ContentBlock {
                self.incremental
            }

            /// All that came until now, this piece included, with the cost once it is known.
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
    /// A piece of the model's answer came. Pieces are told in order, and the next one is taken from the
    /// model when all hooks have seen this one.
    ReasoningChunk
}

model_chunk! {
    /// A piece of the summary came; told like a [`ReasoningChunk`].
    SummaryChunk
}

/// A tool says how far it is.
pub struct ActingChunk<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    call: &'a ToolUse,
    chunk: &'a str,
}

impl<'a> ActingChunk<'a> {
    /// The event, for trying a hook out.
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

    /// The tool call that runs.
    #[must_use]
    pub fn tool_use(&self) -> &'a ToolUse {
        self.call
    }

    /// What it says.
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
