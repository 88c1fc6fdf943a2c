//! A call that is not begun again.

use crate::memory::conversation::Memory;
use crate::memory::journal::Running;
use crate::message::{Msg, Role, ToolResult, open_calls};
use crate::store::CallState;

impl Memory {
    /// Returns the sequence number of the next message, if the thread is in a store.
    pub(crate) fn next_message(&self) -> Option<u64> {
        self.lock().journal.as_ref().map(|journal| journal.next())
    }

    /// Takes the messages of a call that was cut off out of the conversation, which goes on without
    /// them; the store keeps them as history. Tool calls of earlier messages get an error as result.
    pub(crate) fn set_aside(&self, call: &Running) {
        let mut messages = self.messages();
        let kept = match call.since {
            Some(since) => {
                self.lock().journal.as_ref().map_or(0, |journal| journal.count_before(since))
            }
            // A program that did not note where the call began wrote it.
            None => messages.shared().rposition(|msg| is_input(msg)).unwrap_or(messages.len()),
        };
        let tools = self.begun_tools(messages.iter().skip(kept));
        messages.truncate(kept);
        for call in open_calls(&messages) {
            let reason = format!("[ERROR] the process ended each time after `{}` began", call.name);
            messages.push(Msg::tool_result(ToolResult::error(&call, reason)));
        }
        if !tools.is_empty() {
            let tools = tools.join(", ");
            messages.push(Msg::user(format!(
                "[A message was set aside: its call did not come to an end. These tools were called \
                 for it and may have taken effect: {tools}.]"
            )));
        }
        self.replace(messages);
        self.set_running(None);
    }

    /// Returns the names of the tools that the messages call, unless it is known that they did not
    /// start.
    fn begun_tools<'a>(&self, messages: impl Iterator<Item = &'a Msg>) -> Vec<String> {
        let mut names = Vec::new();
        for call in messages.flat_map(Msg::tool_uses) {
            let is_open = self.call_record(&call.id).is_some_and(|it| it.state == CallState::Open);
            if !is_open && !names.contains(&call.name) {
                names.push(call.name.clone());
            }
        }
        names
    }
}

fn is_input(msg: &Msg) -> bool {
    msg.role == Role::User && msg.tool_results().next().is_none()
}
