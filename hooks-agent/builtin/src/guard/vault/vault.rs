//! The vault that programs create.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::guard::vault::error::VaultError;
use crate::guard::vault::in_call::{InCall, Revealed, memories, name, remove};
use crate::guard::vault::key::VaultKey;
use crate::guard::vault::token::label;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::memory::Memory;
use hooks_agent_core::store::{Store, ThreadKey};

/// Keeps personal data and gives out tokens for it, such as `[EMAIL_KXQRTNBW]`, so that a model works
/// with the tokens and tools with the data. Clones are the same vault.
///
/// The data is kept with its thread, sealed: each as a [thread value](CallContext::thread_value). It is
/// written with the messages that have the tokens, is forgotten with the thread, and outlives the
/// process if the thread is in a [store](hooks_agent_core::react::ReActAgentBuilder::store) and the key is the
/// program's.
///
/// | | key | for |
/// |---|---|---|
/// | [`Vault::new`] | a random one, which ends with the process | threads in memory |
/// | [`Vault::stored`] | the program's | threads in a store |
///
/// The same data has the same token in one thread, and other tokens in other threads. The letters of a
/// token come from the data and the key: nobody can write one without having seen it, so `[EMAIL_1]` in
/// a text of a user, a tool or the model is text. A token that the vault does not know, of another
/// thread, forgotten, or of a key that is gone, reaches no tool that receives data: the call fails, and
/// the model reads why. Agents that run as tools share the tokens of the call that they are part of.
///
/// Hooks of one agent share one vault: a hook reveals all tokens of its vault, also those of others.
/// Data is sealed with XChaCha20-Poly1305 for its thread and its token, with a nonce of its own.
///
/// Pass it to [`PiiDetection::vault`](crate::guard::PiiDetection::vault).
#[derive(Clone)]
#[must_use]
pub struct Vault {
    /// The first one seals.
    keys: Arc<[VaultKey]>,
    is_stored: bool,
    threads: Arc<Mutex<Threads>>,
}

/// The threads that were used, by the ids of the outermost agent and its thread, with those of its
/// sub-agents.
type Threads = HashMap<(String, String), Vec<Weak<Memory>>>;

impl Default for Vault {
    fn default() -> Self {
        Self::new()
    }
}

impl Vault {
    /// Creates a vault for threads in memory: what it kept can be opened by nobody after the process.
    pub fn new() -> Self {
        Self { is_stored: false, ..Self::stored(VaultKey::random()) }
    }

    /// Creates a vault for threads in a store: any process with the key opens what it kept.
    ///
    /// ```
    /// use hooks_agent::builtin::guard::{PiiDetection, Vault, VaultKey};
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::store::ThreadKey;
    /// use hooks_agent::thread::MemoryStore;
    ///
    /// # futures::executor::block_on(async {
    /// # let (bytes, old_bytes) = ([7; 32], [8; 32]);
    /// # let echo = || ScriptedModel::new("echo", |request| request.last_text());
    /// let store = MemoryStore::new();
    /// let agent = |vault| {
    ///     let hook = PiiDetection::email().vault(vault);
    ///     ReActAgent::builder("clerk").model(echo()).store(store.clone()).hook(hook).build()
    /// };
    /// let before = Vault::stored(VaultKey::new("2", old_bytes));
    /// let reply = agent(before)?.call("I am ada@example.com").await?;
    /// assert!(!reply.text().contains('@'));
    ///
    /// // Another process, another day, a new key.
    /// let vault = Vault::stored(VaultKey::new("3", bytes)).with_old_key(VaultKey::new("2", old_bytes));
    /// let thread = ThreadKey::new("clerk", "default")?;
    /// let shown = vault.reveal_stored(&store, &thread, &reply.text()).await?;
    /// assert_eq!(shown, "I am ada@example.com");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn stored(key: VaultKey) -> Self {
        Self { keys: Arc::new([key]), is_stored: true, threads: Arc::default() }
    }

    /// Adds a key that is no longer used for new data. What it sealed is sealed with the new key when
    /// it is used next; keep it as long as there are threads that were not used since.
    pub fn with_old_key(mut self, key: VaultKey) -> Self {
        self.keys = self.keys.iter().cloned().chain([key]).collect();
        self
    }

    /// Returns the token of a value in a thread, whether or not the thread has it: to look for a person
    /// in what was logged. `kind` is as in [`PiiMatch`](crate::guard::pii::PiiMatch), `thread`
    /// the id of the thread of the outermost call.
    #[must_use]
    pub fn token_of(&self, thread: &str, kind: &str, value: &str) -> String {
        name(self.key(), thread, &label(kind), value, 0)
    }

    /// Returns a text with the data in place of the tokens of the call's thread: for the program, which
    /// shows a reply to its user. Other tokens stay.
    #[must_use]
    pub fn reveal(&self, cx: &CallContext, text: &str) -> String {
        let revealed = self.in_call(cx).text(text, &mut Revealed::default());
        revealed.unwrap_or_else(|| text.to_owned())
    }

    /// Returns a text with the data in place of the tokens of this thread of the agent of this id, if
    /// the process has the thread in memory. Other tokens stay. See
    /// [`reveal_stored`](Vault::reveal_stored) for threads in a store.
    #[must_use]
    pub fn reveal_in(&self, agent_id: &str, thread: &str, text: &str) -> String {
        let memories = self.memories(agent_id, thread);
        let thread = InCall::of_thread(self.clone(), thread, memories);
        thread.text(text, &mut Revealed::default()).unwrap_or_else(|| text.to_owned())
    }

    /// Returns a text with the data in place of the tokens of a thread in a store, in any process. Tokens
    /// that the thread does not have stay.
    ///
    /// # Errors
    /// [`VaultError::Store`] if the store cannot be read; [`VaultError::Key`] and
    /// [`VaultError::Damaged`] if data of the thread cannot be opened.
    pub async fn reveal_stored(
        &self,
        store: &(impl Store + ?Sized),
        thread: &ThreadKey,
        text: &str,
    ) -> Result<String, VaultError> {
        let memory = Arc::new(Memory::new());
        memory.set_values(store.values(thread).await?);
        let mut revealed = Revealed::default();
        let thread = InCall::of_thread(self.clone(), thread.thread(), vec![memory]);
        let shown = thread.text(text, &mut revealed).unwrap_or_else(|| text.to_owned());
        match revealed.refused {
            None | Some(VaultError::Unknown { .. }) => Ok(shown),
            Some(error) => Err(error),
        }
    }

    /// Forgets the data of a thread that the process has in memory, with that of its sub-agents' threads,
    /// and returns whether there was any. The messages stay. Threads in a store lose it there with their
    /// next step; [`ReActAgent::forget`](hooks_agent_core::react::ReActAgent::forget) removes threads and data at
    /// once.
    #[expect(clippy::must_use_candidate, reason = "it has an effect")]
    pub fn forget(&self, agent_id: &str, thread: &str) -> bool {
        let memories = self.memories(agent_id, thread);
        memories.iter().filter(|memory| remove(memory)).count() > 0
    }

    /// Returns the vault in a call.
    pub(in crate::guard) fn in_call(&self, cx: &CallContext) -> InCall {
        InCall::new(self.clone(), cx)
    }

    /// Notes the threads of a call: those that receive data.
    pub(in crate::guard) fn note(&self, cx: &CallContext) {
        let root = cx.outermost();
        let id = (root.agent_id().to_owned(), root.thread_id().to_owned());
        note(&mut self.lock(), id, &memories(cx));
    }

    /// Returns whether the key ends with the process.
    pub(in crate::guard) fn ends_with_process(&self) -> bool {
        !self.is_stored
    }

    pub(super) fn key(&self) -> &VaultKey {
        &self.keys[0]
    }

    pub(super) fn keys(&self) -> &[VaultKey] {
        &self.keys
    }

    fn memories(&self, agent_id: &str, thread: &str) -> Vec<Arc<Memory>> {
        let id = (agent_id.to_owned(), thread.to_owned());
        self.lock().get(&id).into_iter().flatten().filter_map(Weak::upgrade).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes the memories of a thread. Those that are gone are removed when there are many.
fn note(threads: &mut Threads, id: (String, String), memories: &[Arc<Memory>]) {
    if threads.len() == threads.capacity() {
        threads.retain(|_, memories| memories.iter().any(|memory| memory.strong_count() > 0));
    }
    let noted = threads.entry(id).or_default();
    noted.retain(|memory| memory.strong_count() > 0);
    for memory in memories {
        if noted.iter().all(|other| other.as_ptr() != Arc::as_ptr(memory)) {
            noted.push(Arc::downgrade(memory));
        }
    }
}

/// The ids of the keys, and nothing of what is kept.
impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("keys", &self.keys).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::guard::vault::vault::{Threads, note};
    use hooks_agent_core::memory::Memory;

    #[test]
    fn threads_that_are_gone_are_not_kept_and_others_are() {
        let id = |thread: usize| ("agent".to_owned(), thread.to_string());
        let (mut threads, root) = (Threads::new(), Arc::new(Memory::new()));
        note(&mut threads, id(0), std::slice::from_ref(&root));
        for thread in 1..1000 {
            note(&mut threads, id(thread), &[Arc::new(Memory::new())]);
            // A sub-agent's thread of each call.
            note(&mut threads, id(0), &[Arc::new(Memory::new()), root.clone()]);
        }
        assert!(threads.len() < 10, "{}", threads.len());
        let of_root = &threads[&id(0)];
        assert_eq!(of_root.iter().filter_map(std::sync::Weak::upgrade).count(), 1);
        assert!(of_root.len() < 3, "{}", of_root.len());
    }
}
