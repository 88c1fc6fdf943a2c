//! The content of an answer: its texts and its thoughts.

use hooks_agent_core::message::{ContentBlock, Msg};
use serde::{Deserialize, Serialize};

/// What an answer says: its texts, and its thoughts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Reply {
    pub(super) texts: Vec<String>,
    thoughts: Vec<String>,
}

impl Reply {
    pub(crate) fn of(msg: &Msg) -> Self {
        let mut reply = Self::default();
        for block in &msg.content {
            match block {
                ContentBlock::Text { text } => reply.texts.push(text.clone()),
                ContentBlock::Thinking { thinking, .. } => reply.thoughts.push(thinking.clone()),
                _ => {}
            }
        }
        reply
    }

    /// Returns the message with this in place of what it says. Texts are each in their place if there are
    /// as many, else all in the place of the first. Thoughts are left out if there are others.
    pub(crate) fn put_into(&self, msg: &Msg) -> Msg {
        let mut msg = msg.clone();
        let own = Self::of(&msg);
        if own.thoughts != self.thoughts {
            msg.content.retain(|block| {
                let is_thought = matches!(block, ContentBlock::Thinking { .. });
                !is_thought && !matches!(block, ContentBlock::RedactedThinking { .. })
            });
        }
        let fits = own.texts.len() == self.texts.len();
        let texts = if fits { self.texts.clone() } else { vec![self.texts.join("\n")] };
        let mut texts = texts.into_iter();
        for block in &mut msg.content {
            if let ContentBlock::Text { text } = block {
                *text = texts.next().unwrap_or_default();
            }
        }
        msg.content.extend(texts.map(ContentBlock::text));
        msg
    }
}
