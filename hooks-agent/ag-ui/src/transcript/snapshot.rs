//! All messages of the conversation.

use crate::protocol::{Event, EventKind, Message};
use crate::transcript::answer::tool_calls;
use crate::transcript::machine::Transcript;
use crate::transcript::replay::{Replay, replay};

impl Transcript {
    /// Sends all messages of the conversation.
    pub(super) fn show_all(&mut self, events: &mut Vec<Event>) {
        let history = self.request.memory.get().map(|memory| memory.messages()).unwrap_or_default();
        let (replies, answers) = (self.request.replies(), self.request.answers());
        let Replay { messages: own, .. } = replay(&history, &replies, &answers);
        let mut messages = Vec::with_capacity(own.len());
        if !self.about.is_old {
            self.add_kept(None, &mut messages);
        }
        for message in own {
            let id = message.id().to_owned();
            let calls: Vec<_> =
                tool_calls(std::slice::from_ref(&message)).map(|call| call.id.clone()).collect();
            messages.push(message);
            if !self.about.is_old {
                self.add_kept(Some(&id), &mut messages);
                for call in &calls {
                    self.add_below(call, &mut messages);
                }
            }
        }
        events.push(Event::new(EventKind::MessagesSnapshot { messages }));
    }

    fn add_kept(&self, behind: Option<&str>, messages: &mut Vec<Message>) {
        let kept = self.kept.iter().filter(|(anchor, _)| anchor.as_deref() == behind);
        messages.extend(kept.map(|(_, value)| Message::Other(value.clone())));
    }

    /// Adds the messages of the sub-agents of this run that a tool call ran, and of theirs.
    fn add_below(&self, tool_call: &str, messages: &mut Vec<Message>) {
        for call in self.calls.iter().filter(|call| call.through.as_deref() == Some(tool_call)) {
            let draft = call.draft.iter().flat_map(|draft| &draft.messages);
            for message in call.messages.iter().chain(draft) {
                messages.push(message.clone());
                for below in tool_calls(std::slice::from_ref(message)) {
                    self.add_below(&below.id, messages);
                }
            }
        }
    }
}
