//! Keeps the texts of messages in their usual form, so that a call folds each once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_agent_core::message::{ContentBlock, Msg, Role, ToolResult};

use crate::provenance::kept::texts;
use crate::provenance::reading::escapes::unescaped;
use crate::provenance::reading::fold::{folded, with_apart_sentences};
use crate::provenance::reading::text::Text;

/// The texts of messages, by the addresses of the messages.
#[derive(Default)]
pub(crate) struct Folded(Mutex<HashMap<usize, FoldedMsg>>);

/// A message, which is kept so that no other one has its address, and its texts: of results, one after the other.
type FoldedMsg = (Arc<Msg>, Vec<Arc<Text>>);

impl Folded {
    /// Returns the texts of a message in their usual form.
    pub(crate) fn of(&self, msg: &Arc<Msg>) -> Vec<Arc<Text>> {
        let key = Arc::as_ptr(msg).addr();
        if let Some((_, texts)) = self.lock().get(&key) {
            return texts.clone();
        }
        let text = |text: &str| Arc::new(Text::new(folded(text)));
        let folded: Vec<_> = match msg.role {
            Role::Tool => msg.tool_results().map(|result| text(&text_of(result))).collect(),
            Role::User => texts(msg).map(|it| text(&with_apart_sentences(it))).collect(),
            _ => texts(msg).map(text).collect(),
        };
        self.lock().insert(key, (msg.clone(), folded.clone()));
        folded
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<usize, FoldedMsg>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns what a result says.
fn text_of(result: &ToolResult) -> String {
    let output = &result.output;
    let mut text = unescaped(output.as_str()).into_owned();
    for block in output.blocks() {
        if let ContentBlock::Text { text: more } = block {
            text.push('\n');
            text.push_str(&unescaped(more));
        }
    }
    text
}
