//! The events of chunks. They have no setters: to change a stream, hook `model_call` with a
//! [`Rewrite`](crate::hook::Rewrite).

use std::fmt;
use std::sync::Arc;

use crate::agent::Agent;
use crate::call::CallContext;
use crate::event::accessors::of_an_event;
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

            of_an_event!();

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
    ///
    /// A hook that shows the text while it arrives:
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let (shown, screen) = mpsc::channel();
    /// let show = on(move |event: &mut ReasoningChunk<'_>| {
    ///     if let ContentBlock::Text { text } = event.incremental() {
    ///         // The screen may be gone.
    ///         let _ = shown.send(text.clone());
    ///     }
    /// });
    /// let model = ScriptedModel::new("fixed", |_| "Good morning.");
    /// let agent = ReActAgent::builder("assistant").model(model).hook(show).build()?;
    /// agent.call("Hello").await?;
    /// assert_eq!(screen.try_iter().collect::<Vec<_>>(), ["Good ", "morning."]);
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    ReasoningChunk
}

model_chunk! {
    /// The event of a chunk of the summary, in the same order as a [`ReasoningChunk`].
    ///
    /// A hook that shows the text while it arrives:
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// use hooks_agent::prelude::*;
    /// # use serde_json::{Value, json};
    ///
    /// # futures::executor::block_on(async {
    /// let (shown, screen) = mpsc::channel();
    /// let show = on(move |event: &mut SummaryChunk<'_>| {
    ///     if let ContentBlock::Text { text } = event.incremental() {
    ///         let _ = shown.send(text.clone());
    ///     }
    /// });
    /// // `model` calls the tool in every round.
    /// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
    /// #     match request.tools.is_empty() {
    /// #         true => "So far so good.".into(),
    /// #         false => ToolUse::new("1", "read", json!({})).into(),
    /// #     }
    /// # });
    /// # let read = FunctionTool::new("read", "Reads.", async |_: Value| "nothing new");
    /// let builder = ReActAgent::builder("assistant").model(model).tool(read).max_iters(1);
    /// let agent = builder.hook(show).build()?;
    /// agent.call("Watch it").await?;
    /// assert_eq!(screen.try_iter().collect::<String>(), "So far so good.");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    SummaryChunk
}

/// The event of a tool that reports its progress.
///
/// A hook that shows the progress:
///
/// ```
/// use std::sync::mpsc;
///
/// use hooks_agent::prelude::*;
/// # use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// let (shown, screen) = mpsc::channel();
/// let show = on(move |event: &mut ActingChunk<'_>| {
///     let _ = shown.send(format!("{}: {}", event.tool_use().name, event.chunk()));
/// });
/// let read = FunctionTool::with_context("read", "Reads a file.", async |_: Value, cx| {
///     cx.progress("half of it");
///     "text"
/// });
/// // `model` calls the tool and answers with the result.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "read", json!({})).into(),
/// #     }
/// # });
/// let agent = ReActAgent::builder("assistant").model(model).tool(read).hook(show).build()?;
/// agent.call("Read it").await?;
/// assert_eq!(screen.try_iter().collect::<Vec<_>>(), ["read: half of it"]);
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
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

    of_an_event!();

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
