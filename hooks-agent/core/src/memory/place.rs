//! Where messages stand in a conversation.

use std::collections::HashMap;
use std::sync::Arc;

use crate::message::{Messages, Msg};

/// Appends a message, or puts it where it belongs: results follow their tool calls directly and in the
/// order of these, whatever came since. Returns whether it stands before others.
pub(super) fn place_message(messages: &mut Messages, msg: Arc<Msg>) -> bool {
    let place = place_of_results(messages, &msg);
    match place {
        None => messages.push(msg),
        Some(place) => messages.insert(place, msg),
    }
    place.is_some()
}

fn place_of_results(messages: &Messages, msg: &Msg) -> Option<usize> {
    let id = &msg.tool_results().next()?.id;
    let last = messages.last()?;
    if last.tool_uses().next().is_some() {
        return None;
    }
    let asks = messages.shared().rposition(|msg| msg.tool_uses().any(|call| call.id == *id))?;
    if let Some(before) = last.tool_results().next() {
        // Most results come in order.
        let mut calls = messages[asks].tool_uses();
        let first = calls.find(|call| call.id == before.id || call.id == *id);
        if first.is_some_and(|call| call.id == before.id) {
            return None;
        }
    }
    let calls = messages[asks].tool_uses().enumerate();
    let numbers: HashMap<_, _> = calls.map(|(number, call)| (call.id.as_str(), number)).collect();
    let number_of = |id: &str| numbers.get(id);
    let number = number_of(id);
    let is_before =
        |msg: &&Msg| msg.tool_results().next().is_some_and(|result| number_of(&result.id) < number);
    let place = asks + 1 + messages.iter().skip(asks + 1).take_while(is_before).count();
    (place < messages.len()).then_some(place)
}
