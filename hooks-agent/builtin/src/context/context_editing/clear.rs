//! Clears the oldest results of a conversation.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use hooks_agent_core::message::{ContentBlock, Messages, Msg, ToolOutput, ToolResult};
use hooks_agent_core::model::TokenCounter;

/// The key of the metadata of a message in which something was cleared.
pub(super) const METADATA_KEY: &str = "context_editing";

/// What is cleared.
#[derive(Clone, Debug)]
pub(super) struct Clearing {
    pub(super) counter: TokenCounter,
    pub(super) keep: Keep,
    /// How many tokens are enough; 0 is all that may be cleared.
    pub(super) at_least: u64,
    pub(super) clears_inputs: bool,
    pub(super) excluded: Vec<String>,
    pub(super) placeholder: String,
}

/// Which results stay, counted from the last one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Keep {
    Results(usize),
    /// As many as have these tokens together, and at least one.
    Tokens(u64),
}

/// The place of a block: the message, and the block in it.
type Place = (usize, usize);

/// A result, and the tool call that it answers.
struct Answered {
    result: Place,
    call: Place,
}

impl Clearing {
    /// Clears the oldest results.
    pub(super) fn clear(&self, messages: &mut Messages) {
        let mut saved = saved_before(messages);
        for answered in self.candidates(messages) {
            if self.at_least > 0 && saved >= self.at_least {
                return;
            }
            if self.clears_inputs {
                saved += self.clear_input(messages, answered.call);
                saved += self.clear_ran(messages, answered.result);
            }
            saved += self.clear_result(messages, answered.result);
        }
    }

    /// Returns whether there are more results than those that stay in any case. Counts no tokens.
    pub(super) fn has_more(&self, messages: &Messages) -> bool {
        let kept = match self.keep {
            Keep::Results(count) => count,
            Keep::Tokens(_) => 1,
        };
        messages.iter().flat_map(Msg::tool_results).nth(kept).is_some()
    }

    /// Returns the results that may be cleared, oldest first.
    fn candidates(&self, messages: &Messages) -> Vec<Answered> {
        let mut calls: HashMap<&str, Place> = HashMap::new();
        let mut all = Vec::new();
        for (place, msg) in messages.iter().enumerate() {
            for (number, block) in msg.content.iter().enumerate() {
                match block {
                    ContentBlock::ToolUse(call) => {
                        calls.insert(&call.id, (place, number));
                    }
                    ContentBlock::ToolResult(result) => {
                        let call = calls.get(result.id.as_str()).copied();
                        all.push((result, call, (place, number)));
                    }
                    _ => {}
                }
            }
        }
        let kept = match self.keep {
            Keep::Results(count) => count,
            Keep::Tokens(most) => self.latest(all.iter().rev().map(|(result, ..)| *result), most),
        };
        all.truncate(all.len().saturating_sub(kept));
        let is_excluded = |result: &ToolResult| self.excluded.contains(&result.name);
        let known = all.into_iter().filter(|(result, ..)| !is_excluded(result));
        known.filter_map(|(_, call, result)| Some(Answered { result, call: call? })).collect()
    }

    /// Returns how many of these results have at most this many tokens together, but at least 1.
    fn latest<'a>(&self, results: impl Iterator<Item = &'a ToolResult>, most: u64) -> usize {
        let mut left = Some(most);
        let fits = |result: &&ToolResult| {
            left = left.and_then(|left| {
                left.checked_sub(self.tokens(ContentBlock::ToolResult((*result).clone())))
            });
            left.is_some()
        };
        results.take_while(fits).count().max(1)
    }

    /// Clears a result that is longer than the placeholder. Returns the tokens that this saves.
    fn clear_result(&self, messages: &mut Messages, (place, number): Place) -> u64 {
        let Some(ContentBlock::ToolResult(result)) = block(messages, (place, number)) else {
            return 0;
        };
        let output = &result.output;
        let is_text = output.blocks().is_empty() && output.structured().is_none();
        if is_text && output.as_str().len() <= self.placeholder.len() {
            return 0;
        }
        let mut cleared = result.clone();
        cleared.output = ToolOutput::text(&self.placeholder);
        self.replace(messages, (place, number), ContentBlock::ToolResult(cleared), |about| {
            about.insert("cleared".to_owned(), true.into());
            about.insert("strategy".to_owned(), "clear_tool_uses".into());
        })
    }

    /// Clears the arguments of a tool call, if it has any. Returns the tokens that this saves.
    fn clear_input(&self, messages: &mut Messages, place: Place) -> u64 {
        let Some(ContentBlock::ToolUse(call)) = block(messages, place) else { return 0 };
        let is_empty = call.input.as_object().is_some_and(Map::is_empty);
        if is_empty && call.invalid_input.is_none() {
            return 0;
        }
        let id = call.id.clone();
        let mut cleared = call.clone();
        cleared.input = json!({});
        cleared.invalid_input = None;
        self.replace(messages, place, ContentBlock::ToolUse(cleared), |about| note_input(about, id))
    }

    /// Clears the arguments that a result records. Returns the tokens that this saves.
    fn clear_ran(&self, messages: &mut Messages, place: Place) -> u64 {
        let Some(ContentBlock::ToolResult(result)) = block(messages, place) else { return 0 };
        if result.ran.is_none() {
            return 0;
        }
        let id = result.id.clone();
        let mut cleared = result.clone();
        cleared.ran = None;
        let cleared = ContentBlock::ToolResult(cleared);
        self.replace(messages, place, cleared, |about| note_input(about, id))
    }

    /// Replaces a block and notes it in the metadata of its message.
    fn replace(
        &self,
        messages: &mut Messages,
        place: Place,
        cleared: ContentBlock,
        note: impl FnOnce(&mut Map<String, Value>),
    ) -> u64 {
        let Some(msg) = messages.get_mut(place.0) else { return 0 };
        let after = self.tokens(cleared.clone());
        let before = self.tokens(std::mem::replace(&mut msg.content[place.1], cleared));
        let saved = before.saturating_sub(after);
        let key = METADATA_KEY;
        let about = msg.metadata.entry(key).or_insert_with(|| json!({}));
        if let Value::Object(about) = about {
            note(about);
            let so_far = about.get("saved").and_then(Value::as_u64).unwrap_or(0);
            about.insert("saved".to_owned(), (so_far + saved).into());
        }
        saved
    }

    fn tokens(&self, block: ContentBlock) -> u64 {
        self.counter.count([&Msg::user("").with(block)])
    }
}

/// Notes that the arguments of a tool call are cleared.
fn note_input(about: &mut Map<String, Value>, id: String) {
    let ids = about.entry("cleared_tool_inputs").or_insert_with(|| json!([]));
    if let Value::Array(ids) = ids {
        ids.push(id.into());
    }
}

/// Returns the tokens that were saved in these messages before.
fn saved_before(messages: &Messages) -> u64 {
    let about = messages.iter().filter_map(|msg| msg.metadata.get(METADATA_KEY));
    about.filter_map(|about| about.get("saved")?.as_u64()).sum()
}

fn block(messages: &Messages, (place, number): Place) -> Option<&ContentBlock> {
    messages.get(place)?.content.get(number)
}
