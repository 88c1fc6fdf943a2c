//! Takes threads back to an earlier message.

use crate::agent::{Agent, AgentExt};
use crate::call::CallOptions;
use crate::react::agent::ReActAgent;
use crate::store::{Filter, StoreError, ThreadKey};
use crate::thread::{Rewind, RewindError};

impl ReActAgent {
    /// Takes a thread back to the message of this [number](crate::store::HistoryRow::seq): its next call goes on from
    /// there, as if nothing had been said after it. Returns how many messages are no longer part of the conversation.
    ///
    /// A store outside of the process keeps them as history, as messages that were replaced; a
    /// [`MemoryStore`](crate::thread::MemoryStore) does not. Questions that wait on
    /// the thread are given up. What hooks keep with the thread stays: a rewind resets no limit, no label and no
    /// remembered answer, and takes back nothing that tools have done. Threads of sub-agents stay as they are. To keep
    /// both conversations, [fork](crate::store::fork) the thread.
    ///
    /// Calls that wait in a durable engine, with a [journal](crate::journal), are not detected: end them first.
    ///
    /// Of the options, only the thread, the user, who must be the thread's, and the
    /// [queue timeout](CallOptions::queue_timeout) are used: a rewind waits for the calls before it, as a call does.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::store::ThreadKey;
    ///
    /// # futures::executor::block_on(async {
    /// let model = ScriptedModel::new("count", |request| request.messages.len().to_string());
    /// let agent = ReActAgent::builder("clerk").model(model).build()?;
    /// let ada = || CallOptions::new().thread("ada");
    /// agent.call_with(ada(), "Good morning").await?;
    /// agent.call_with(ada(), "Pay the rent").await?;
    ///
    /// let rows = agent.store().history(&ThreadKey::new("clerk", "ada")?).await?;
    /// assert_eq!(agent.rewind(ada(), rows[1].seq).await?, 2);
    /// assert_eq!(agent.call_with(ada(), "Pay nothing").await?.text(), "3");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// # use hooks_agent::store::Store;
    /// ```
    ///
    /// # Errors
    /// [`RewindError`]; [`StoreError::UnknownThread`] and [`StoreError::OtherUser`] are in
    /// [`Call`](RewindError::Call). Nothing is rewound then.
    pub async fn rewind(&self, options: CallOptions, last: u64) -> Result<u64, RewindError> {
        let cx = self.context(options);
        let key = ThreadKey::new(self.name(), cx.thread_id()).map_err(StoreError::from)?;
        let of_thread = Filter::agent(key.agent()).thread(key.thread());
        if self.store().threads(of_thread).await?.is_empty() {
            return Err(StoreError::UnknownThread(key).into());
        }
        let rewind = Rewind { thread: &key, store: &**self.store(), last };
        let threads = &self.core.threads;
        let _turn = threads.turns().take(&cx).await?;
        let memory = self.memory_of_call(&cx);
        match threads.stored() {
            Some(durable) => Box::pin(durable.rewind(&cx, &memory, rewind)).await,
            None => {
                cx.check_thread(&memory)?;
                let rewound = rewind.apply(&memory).await?;
                Ok(rewound.map_or(0, |rewound| rewound.count() as u64))
            }
        }
    }
}
