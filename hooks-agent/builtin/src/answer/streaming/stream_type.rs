//! Types of events that a reader selects.

/// A type of events that a [`Streaming`](crate::answer::Streaming) passes on while a call runs. The end of
/// a call is always passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StreamType {
    /// Text of the model, also of a summary: chunks with text.
    Text,
    /// Thoughts of the model: chunks with thoughts.
    Thinking,
    /// A tool starts to run.
    ToolStarted,
    /// A running tool reports its progress.
    ToolChunk,
    /// A tool call has its result, also one that did not run.
    ToolFinished,
}
