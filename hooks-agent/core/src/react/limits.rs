//! Limits of the text that an agent takes from its model and its tools.

/// How much an agent takes from its model and its tools, in bytes of text.
///
/// ```
/// use hooks_agent::model::ScriptedModel;
/// use hooks_agent::react::{Limits, ReActAgent};
///
/// let limits = Limits::new().answer(64 * 1024).result(16 * 1024);
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).limits(limits).build()?;
/// # Ok::<(), hooks_agent::error::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Limits {
    pub(super) answer: usize,
    pub(super) arguments: usize,
    pub(super) result: usize,
}

impl Limits {
    /// Creates the default limits: 16 MiB for an answer, 4 KiB of invalid arguments, 1 MiB for a
    /// result.
    pub const fn new() -> Self {
        Self { answer: 16 << 20, arguments: 4 << 10, result: 1 << 20 }
    }

    /// Sets the limit of one answer of the model: text, thoughts and tool calls together. A longer
    /// answer fails with [`ModelError::TooLong`](crate::model::ModelError::TooLong).
    pub const fn answer(mut self, bytes: usize) -> Self {
        self.answer = bytes;
        self
    }

    /// Sets how much of arguments that are not a JSON object is sent back to the model. The rest is
    /// cut, with a note.
    pub const fn arguments(mut self, bytes: usize) -> Self {
        self.arguments = bytes;
        self
    }

    /// Sets the limit of the result of one tool call: its text and text blocks together, which are
    /// cut in memory, with a note for the model; and the JSON of its structured value, which is
    /// removed. Images, audio and files have no limit.
    pub const fn result(mut self, bytes: usize) -> Self {
        self.result = bytes;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}
