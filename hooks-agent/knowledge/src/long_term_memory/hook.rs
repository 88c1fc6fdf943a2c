//! The hook that remembers users across threads.

use std::sync::{Arc, Mutex, PoisonError};

use hooks_core::HookResult;

use crate::long_term_memory::call::{end_run, is_final, said_by, user_of};
use crate::long_term_memory::error::MemoriesError;
use crate::long_term_memory::keep::{Keep, Said};
use crate::long_term_memory::memories::Memories;
use crate::long_term_memory::prompt::{insert, message};
use crate::long_term_memory::queue::Queue;
use crate::long_term_memory::remembered::Source;
use crate::long_term_memory::unwritten::WithUnwritten;
use crate::long_term_memory::writer::{Call, FailedWrite, Writer};
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::{PostCall, PreCall, PreReasoning, PreSummary};
use hooks_agent_core::message::{Messages, Msg};

/// How many calls wait for a write in the background by default.
const PLACES: usize = 256;

/// Remembers users across threads: it chooses what is kept of a call, and gives the model what is known
/// of the user.
///
/// The user is [`CallOptions::user`](hooks_agent_core::call::CallOptions::user) of the call, or else of the call that
/// it is part of, and nothing else: no text, no thread and no argument makes a user. Without a user, or
/// with an empty one, nothing is read and nothing is written.
///
/// At the start of a call the memories of the user are searched for what the user says, with at most
/// [`limit`](Self::limit) entries. Before each call of the model they are inserted, as one message before
/// the last message of the user, between marks with a random id and with the notice that they are data.
/// The messages of the thread do not have them.
///
/// After a call that ended with an answer of the model, [`Keep`] chooses what is kept, from the texts of
/// the user and the final reply alone. Tool calls and their results are not looked at, and a call in which
/// the user says nothing keeps nothing. A call that resumes another has what the user said in that one; if
/// another user resumes it, nothing is kept. An entry has its
/// [source](crate::Remembered::source) and its time.
///
/// | setting | default |
/// |---|---|
/// | [`new`](Self::new): where memories are kept, and what of a call is kept | |
/// | [`limit`](Self::limit) of entries that the model reads | 5 |
/// | [`require_user`](Self::require_user) | false: a call without a user has no memories |
/// | [`in_background`](Self::in_background) | false: written before the call ends |
/// | [`queue`](Self::queue): how many calls wait in the background | 256 |
/// | [`fail_calls`](Self::fail_calls) | false: a call goes on without memories that fail |
///
/// # In the background
/// Calls wait in a queue, which one task works off; when it is full, a call waits for a place. The
/// task runs in the runtime of tokio of the call, with time enabled; outside of a runtime, a call writes
/// by itself. A write that fails because the memories are not available is tried three times.
/// [`flush`](Self::flush) waits until everything is written, [`shutdown`](Self::shutdown) also ends the
/// queue: a program calls it at its end. What waits when the last clone of the hook is dropped, without a
/// task that writes it, is lost, which is reported through `tracing`.
///
/// # Errors
/// What cannot be read or written is reported through `tracing`; with [`fail_calls`](Self::fail_calls) the
/// call fails. What cannot be written is kept in [`failed`](Self::failed).
///
/// # Order
/// The priority is [`PRIORITY`](Self::PRIORITY), at every event: after hooks that redact, so that what they
/// remove is neither searched for nor kept, and before limits, which count what is inserted. A hook of a
/// higher priority that changes the reply at `PostCall` changes it after it was kept. The hook is not
/// inherited; a sub-agent gets a clone.
///
/// ```
/// use hooks_agent::builtin::knowledge::{Keep, LongTermMemory, Memories, ProcessMemories};
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let keep = Keep::by_rule(|said| {
///     let sentences = said.user.split_inclusive('.').filter(|text| text.contains("I have"));
///     sentences.map(str::to_owned).collect()
/// });
/// let memories = ProcessMemories::new();
/// let memory = LongTermMemory::new(memories.clone(), keep);
/// // A model that answers with what it reads.
/// # let model = ScriptedModel::new("echo", |request| {
/// #     request.messages.iter().map(Msg::text).collect::<Vec<_>>().join("\n")
/// # });
/// let agent = ReActAgent::builder("assistant").model(model).hook(memory).build()?;
/// let on = |user: &str, thread: &str| CallOptions::new().user(user).thread(thread);
/// agent.call_with(on("ada", "monday"), "Hello. I have a cat.").await?;
///
/// let reply = agent.call_with(on("ada", "friday"), "What does my cat eat?").await?;
/// assert!(reply.text().contains("- I have a cat."));
/// let reply = agent.call_with(on("bob", "friday 2"), "What does my cat eat?").await?;
/// assert_eq!(reply.text(), "What does my cat eat?");
///
/// assert_eq!(memories.forget_all("ada").await?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct LongTermMemory {
    limit: usize,
    requires_user: bool,
    is_in_background: bool,
    fails_calls: bool,
    writer: Arc<Writer>,
    queue: Arc<Queue>,
}

/// What the hook knows of a call.
type OfCall = Mutex<Option<Known>>;

#[derive(Debug)]
struct Known {
    user: Arc<str>,
    said: String,
    memory: Option<Msg>,
}

impl LongTermMemory {
    /// The priority: after hooks that redact, before limits.
    pub const PRIORITY: i32 = 83;

    /// Creates a hook that keeps memories here, and chooses them this way.
    pub fn new(memories: impl Memories, keep: Keep) -> Self {
        let writer = Arc::new(Writer::new(Arc::new(memories), keep));
        Self {
            limit: 5,
            requires_user: false,
            is_in_background: false,
            fails_calls: false,
            queue: Arc::new(Queue::new(writer.clone(), PLACES)),
            writer,
        }
    }

    /// Sets how many entries the model reads at most.
    pub fn limit(mut self, entries: usize) -> Self {
        self.limit = entries;
        self
    }

    /// Sets whether a call without a user fails, with [`MemoriesError::NoUser`].
    pub fn require_user(mut self, require: bool) -> Self {
        self.requires_user = require;
        self
    }

    /// Sets whether memories are chosen and written in the background, after the call.
    pub fn in_background(mut self, background: bool) -> Self {
        self.is_in_background = background;
        self
    }

    /// Sets how many calls wait in the background; at least 1.
    pub fn queue(mut self, calls: usize) -> Self {
        self.queue = Arc::new(Queue::new(self.writer.clone(), calls));
        self
    }

    /// Sets whether a call fails if its memories cannot be read or written.
    pub fn fail_calls(mut self, fail: bool) -> Self {
        self.fails_calls = fail;
        self
    }

    /// Returns where the memories are kept, to list, export and forget them. What waits in the
    /// background is listed once it is written: [`flush`](Self::flush) first.
    ///
    /// What is forgotten here is not written later: neither what waits in the background, which is
    /// written before it is forgotten, nor what is [`failed`](Self::failed). A call that runs meanwhile
    /// may still keep what is said in it.
    #[must_use]
    pub fn memories(&self) -> Arc<dyn Memories> {
        let memories = self.writer.memories.clone();
        Arc::new(WithUnwritten { memories, queue: self.queue.clone() })
    }

    /// Waits until everything that calls left in the background is written, or is
    /// [`failed`](Self::failed). Returns how many writes are in that list.
    pub async fn flush(&self) -> usize {
        self.queue.drain().await;
        self.writer.failed().len()
    }

    /// Writes everything as [`flush`](Self::flush) does, and ends the queue: later calls write before they
    /// end.
    pub async fn shutdown(&self) -> usize {
        self.queue.close();
        self.flush().await
    }

    /// Returns the writes that failed, the oldest first; of the latest 1,000 entries.
    #[must_use]
    pub fn failed(&self) -> Vec<FailedWrite> {
        self.writer.failed().iter().cloned().collect()
    }

    /// Tries the writes that failed again, and returns how many fail now. Nothing is written twice.
    pub async fn retry_failed(&self) -> usize {
        self.queue.retry_failed().await;
        self.writer.failed().len()
    }

    fn of_call(&self, cx: &CallContext) -> Arc<OfCall> {
        cx.hook_state(Arc::as_ptr(&self.writer).addr())
    }

    /// Searches what is known of the user.
    async fn read(&self, event: &PreCall<'_>) -> HookResult<()> {
        let cx = event.context();
        let Some(user) = user_of(cx) else {
            if self.requires_user {
                return Err(MemoriesError::NoUser.into());
            }
            end_run(cx);
            return Ok(());
        };
        let said = said_by(&user, event);
        let found = match self.limit {
            0 => Ok(Vec::new()),
            limit => self.writer.memories.search(&user, &said, limit).await,
        };
        let mut found = match found {
            Err(error) if self.fails_calls => return Err(error.into()),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(target: "hooks_agent::builtin::knowledge", agent = cx.agent_name(), error, "a call goes on without memories");
                Vec::new()
            }
            Ok(found) => found,
        };
        if found.iter().any(|entry| *entry.user != *user) {
            tracing::error!(target: "hooks_agent::builtin::knowledge", agent = cx.agent_name(), "memories of another user are left out");
            found.retain(|entry| *entry.user == *user);
        }
        let known = Known { user, said, memory: message(cx, &found).await? };
        *self.of_call(cx).lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        Ok(())
    }

    /// Inserts what is known of the user among the first `end` messages.
    fn show(&self, cx: &CallContext, messages: &mut Messages, end: usize) {
        let of_call = self.of_call(cx);
        let known = of_call.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(memory) = known.as_ref().and_then(|known| known.memory.clone()) {
            insert(messages, memory, end);
        }
    }

    /// Keeps what was said.
    async fn keep(&self, event: &PostCall<'_>) -> HookResult<()> {
        let (cx, reply) = (event.context(), event.final_message());
        // A reply that waits for a verdict may yet be denied.
        let shown = cx.shown_answer(reply);
        let known = self.of_call(cx).lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Known { user, said, .. }) = known.filter(|_| is_final(reply)) else {
            return Ok(());
        };
        end_run(cx);
        if said.is_empty() {
            return Ok(());
        }
        let said = Said { user: said, reply: shown.text() };
        let mut call = Call { user, source: Source::of(cx), said };
        if self.is_in_background {
            match self.queue.push(call).await {
                Ok(()) => return Ok(()),
                Err(refused) => call = refused,
            }
        }
        let entries = self.writer.choose(cx, &call).await;
        match self.writer.write(&entries).await {
            Err(error) if self.fails_calls => Err(error.into()),
            _ => Ok(()),
        }
    }
}

#[agent_hook(priority = Self::PRIORITY)]
impl LongTermMemory {
    async fn pre_call(&self, event: &mut PreCall<'_>) -> HookResult {
        self.read(event).await
    }

    fn pre_reasoning(&self, event: &mut PreReasoning<'_>) {
        let end = event.messages().len();
        self.show(event.context(), event.messages_mut(), end);
    }

    fn pre_summary(&self, event: &mut PreSummary<'_>) {
        // The last message asks for the summary.
        let end = event.messages().len().saturating_sub(1);
        self.show(event.context(), event.messages_mut(), end);
    }

    async fn post_call(&self, event: &mut PostCall<'_>) -> HookResult {
        self.keep(event).await
    }
}
