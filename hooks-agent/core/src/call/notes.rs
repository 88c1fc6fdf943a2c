//! Lets hooks tell people who are asked about a tool call what they know of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::call::context::CallContext;
use crate::message::{Note, ToolUse};

/// What tells people of a tool call.
pub(super) type Teller = Arc<dyn Fn(&CallContext, &ToolUse) -> Vec<Note> + Send + Sync>;

impl CallContext {
    /// Tells people who are asked about a tool call what a hook knows of it. Register `notes` once in a call of the agent, at
    /// `PreCall`. It runs for each tool call about which people are asked, whichever hook asks; what it returns are
    /// the [notes](crate::message::PendingCall::notes) of the question. Those of several hooks are in the order in which they
    /// registered; equal ones once. The call of a sub-agent has its own.
    ///
    /// Notes answer nothing and are no part of what a decision is about. If `notes` panics, that hook has none.
    ///
    /// ```
    /// use hooks_agent::message::Note;
    /// use hooks_agent::prelude::*;
    /// # use serde_json::{Value, json};
    ///
    /// # futures::executor::block_on(async {
    /// let book = on(|event: &mut PreCall<'_>| {
    ///     event.context().tell_people(|_, call| match call.input["to"].as_str() {
    ///         Some("ann") => vec![Note::new("to", "is a colleague")],
    ///         _ => vec![Note::new("to", "is nobody whom the address book has")],
    ///     });
    /// });
    /// let ask = on(|event: &mut PreActing<'_>| event.ask("it leaves the house"));
    /// # let model = ScriptedModel::new("script", |_| -> ScriptedAnswer {
    /// #     ToolUse::new("1", "send", json!({ "to": "ann" })).into()
    /// # });
    /// // `model` sends something to `ann`.
    /// let send = FunctionTool::new("send", "Sends.", async |_: Value| "sent");
    /// let agent = ReActAgent::builder("bot").model(model).tool(send).hook(book).hook(ask).build()?;
    /// let reply = agent.call("Send it to Ann").await?;
    /// assert_eq!(reply.pending()[0].notes[0].to_string(), "`to` is a colleague");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    pub fn tell_people(
        &self,
        notes: impl Fn(&Self, &ToolUse) -> Vec<Note> + Send + Sync + 'static,
    ) {
        self.state().tellers.push(Arc::new(notes));
    }

    /// Returns what hooks tell people of a tool call of this call.
    pub(crate) fn notes_of(&self, call: &ToolUse) -> Vec<Note> {
        let tellers = self.state().tellers.clone();
        let mut notes = Vec::new();
        for tell in tellers {
            let told = catch_unwind(AssertUnwindSafe(|| tell(self, call)));
            for note in told.unwrap_or_default() {
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        notes
    }
}
