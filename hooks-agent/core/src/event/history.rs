//! The history of a thread, for hooks that make it shorter.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::AgentError;
use crate::event::reasoning::PreReasoning;
use crate::message::{Messages, Msg};

impl PreReasoning<'_> {
    /// Returns the messages of the thread, in which the changes of hooks of this event are not.
    #[must_use]
    pub fn history(&self) -> Messages {
        self.cx.memory().map_or_else(|| self.input.messages.clone(), |memory| memory.messages())
    }

    /// Returns whether the messages of the round are at their places in `history`: earlier hooks changed
    /// messages, but added, removed and moved none. A message that changed has its role, and the ids of its
    /// tool calls and results.
    #[must_use]
    pub fn keeps_places(&self, history: &Messages) -> bool {
        let (of_round, history) = (self.input.messages.shared(), history.shared());
        let all = history.clone();
        let is_moved = |msg: &Arc<Msg>| all.clone().any(|it| it == msg);
        let keeps = |(msg, before): (&Arc<Msg>, &Arc<Msg>)| {
            Arc::ptr_eq(msg, before)
                || msg == before
                || (has_place_of(msg, before) && !is_moved(msg))
        };
        of_round.len() == history.len() && of_round.zip(history).all(keeps)
    }

    /// Replaces the messages of the thread by a shorter conversation of the same content, in memory and
    /// in the store, which keeps what was replaced as
    /// [history](crate::store::Store::history). `before` is the [history](Self::history) that the shorter
    /// one was made of; messages that were observed since then stay behind it.
    ///
    /// The model gets the shorter conversation in this round, with the changes that earlier hooks made
    /// to messages that stay. If an earlier hook added, removed or moved messages, the round keeps them all,
    /// and the next one is shorter.
    ///
    /// # Errors
    /// [`AgentError::Compression`] if a tool call is parted from its result, or if all messages of the
    /// thread were replaced since `before`; [`AgentError::Input`] for a message that cannot be in a
    /// thread, such as a system message. The thread then stays as it was. [`AgentError::Store`] if the
    /// store fails: memory then has the shorter conversation, which the next commit writes.
    ///
    /// A hook that forgets all but the latest messages, without tools:
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    ///
    /// struct Forget;
    ///
    /// #[agent_hook]
    /// impl Forget {
    ///     async fn keep_three(&self, event: &mut PreReasoning<'_>) -> HookResult {
    ///         let history = event.history();
    ///         if history.len() > 3 {
    ///             let latest = history.iter().skip(history.len() - 3).cloned().collect::<Vec<_>>();
    ///             event.replace_history(&history, latest).await?;
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # futures::executor::block_on(async {
    /// let model = ScriptedModel::new("count", |request| request.messages.len().to_string());
    /// let agent = ReActAgent::builder("assistant").model(model).hook(Forget).build()?;
    /// for expected in ["1", "3", "3"] {
    ///     assert_eq!(agent.call("How many?").await?.text(), expected);
    /// }
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    pub async fn replace_history(
        &mut self,
        before: &Messages,
        messages: impl Into<Messages>,
    ) -> Result<(), AgentError> {
        let messages = messages.into();
        self.cx.replace_history(before, &messages).await?;
        if self.keeps_places(before) {
            let of_round = self.input.messages.shared();
            let places: HashMap<_, _> = before.shared().map(Arc::as_ptr).zip(of_round).collect();
            let shorter = messages.shared().map(|msg| {
                let changed = places.get(&Arc::as_ptr(msg)).copied();
                changed.unwrap_or(msg).clone()
            });
            self.input.messages = shorter.collect::<Vec<_>>().into();
        }
        Ok(())
    }
}

/// Returns whether a message may be another one with a change: of the same role, tool calls and results.
fn has_place_of(msg: &Msg, before: &Msg) -> bool {
    let calls = |msg: &Msg| msg.tool_uses().map(|call| call.id.clone()).collect::<Vec<_>>();
    let results =
        |msg: &Msg| msg.tool_results().map(|result| result.id.clone()).collect::<Vec<_>>();
    msg.role == before.role && calls(msg) == calls(before) && results(msg) == results(before)
}
