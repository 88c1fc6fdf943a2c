//! The chunks of an answer that hooks have not seen.

use hooks_agent_core::message::{ContentBlock, Msg, Role};

/// The chunks of an answer that hooks have not seen.
#[derive(Default)]
pub(super) struct Draft {
    /// The numbers of the chunks whose texts are shown.
    shown: Vec<u64>,
    /// What the chunks say, if the texts of any are shown. The agent's own copy is not held: the agent
    /// would copy it for each chunk.
    said: Option<Msg>,
    /// Whether chunks came whose texts are not shown.
    has_hidden: bool,
}

impl Draft {
    /// Adds a chunk, with its number if its text is shown.
    pub(super) fn add(&mut self, block: &ContentBlock, shown: Option<u64>) {
        let Some(seq) = shown else {
            self.has_hidden = true;
            return;
        };
        self.shown.push(seq);
        let nothing = || Msg::from_blocks(Role::Assistant, "", Vec::new());
        self.said.get_or_insert_with(nothing).append(block.clone());
    }

    /// Ends the draft with the answer as hooks left it. Returns the chunks to hide: all, unless the
    /// answer is what the chunks said.
    pub(super) fn end(&mut self, answer: Option<&Msg>) -> Vec<u64> {
        let Self { shown, said, has_hidden } = std::mem::take(self);
        let is_same = match (&said, answer) {
            (Some(said), Some(answer)) => !has_hidden && said.content == answer.content,
            _ => false,
        };
        if is_same { Vec::new() } else { shown }
    }
}
