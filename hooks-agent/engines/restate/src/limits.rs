//! Limits of what a call keeps in the engine.

/// The limits of a call.
///
/// ```
/// use hooks_restate::Limits;
///
/// let limits = Limits { journal_bytes: 64 << 20, ..Limits::default() };
/// assert_eq!(limits.history_bytes, 1 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of one step as JSON. The server takes messages of 32 MiB at most, unless it is
    /// configured otherwise. A call with a longer step fails.
    pub step_bytes: usize,
    /// The bytes of all steps of a call as JSON. A call that keeps more fails.
    pub journal_bytes: usize,
    /// The entries of a call: its steps, its questions, and one for each run. A call that keeps more
    /// fails.
    pub journal_entries: usize,
    /// The compressed bytes of the history of a thread, with those of sub-agents. A call that keeps more
    /// fails, and the history stays as it was: compress the conversation, or use a store.
    pub history_bytes: usize,
    /// How many runs of a call in a row may complete no step, before the call fails. So a message that
    /// crashes every worker ends with an error, and does not block its thread forever.
    pub runs_without_step: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            step_bytes: 4 << 20,
            journal_bytes: 16 << 20,
            journal_entries: 10_000,
            history_bytes: 1 << 20,
            runs_without_step: 20,
        }
    }
}
