//! The chunks of an answer that hooks have not seen.

use std::sync::Arc;

use hooks_agent_core::message::Msg;

/// The chunks of an answer that hooks have not seen.
#[derive(Default)]
pub(super) struct Draft {
    /// The numbers of the chunks whose texts are shown.
    pub(super) shown: Vec<u64>,
    /// The answer up to the last chunk.
    pub(super) so_far: Option<Arc<Msg>>,
}

impl Draft {
    /// Ends the draft with the answer as hooks left it. Returns the chunks to hide: all, unless the
    /// answer is what the chunks said.
    pub(super) fn end(&mut self, answer: Option<&Msg>) -> Vec<u64> {
        let Self { shown, so_far } = std::mem::take(self);
        let is_same = match (&so_far, answer) {
            (Some(so_far), Some(answer)) => so_far.content == answer.content,
            _ => false,
        };
        if is_same { Vec::new() } else { shown }
    }
}
