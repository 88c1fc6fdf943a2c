//! The state that every agent has.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hooks_core::BoxError;

use crate::agent::contract::Agent;
use crate::agent::linked::install_linked;
use crate::agent::shutdown::Shutdown;
#[cfg(doc)]
use crate::call::CallContext;
use crate::identity::{User, Users, shared_users};
use crate::run_id::RunId;
use crate::store::Store;
use crate::thread::{StoreOptions, Threads};

/// The state that every agent has: its name and id, the queues of its calls, and its subscribers.
pub struct AgentState {
    id: Arc<str>,
    name: Arc<str>,
    threads: Arc<Threads>,
    /// Whether the agent keeps its threads here.
    is_keeper: bool,
    subscribers: Mutex<Vec<Weak<dyn Agent>>>,
    shutdown: Shutdown,
    users: Option<Arc<Users>>,
}

/// The function that prints an agent's text.
pub(crate) type Printer = Arc<dyn Fn(&str) + Send + Sync>;

impl AgentState {
    /// Creates the state of an agent with this name and a new id.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        install_linked();
        let id = RunId::random().to_string().into();
        Self {
            id,
            name: name.into(),
            threads: Arc::new(Threads::new(Threads::DEFAULT_MAX_IDLE)),
            is_keeper: false,
            subscribers: Mutex::default(),
            shutdown: Shutdown::default(),
            users: None,
        }
    }

    /// Keeps the threads of the agent in a store. The context of a call then has the
    /// [memory](CallContext::memory) of its thread, and what the agent puts there is written at the end
    /// of the call, and where it [commits](CallContext::commit).
    ///
    /// The name is the identity of the agent in the store, and its [id](Self::id). A store outside of
    /// the process requires a runtime of tokio: one task for each agent renews the leases of its calls.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::store::{Filter, Store};
    /// use hooks_agent::thread::MemoryStore;
    ///
    /// #[derive(Hookable)]
    /// struct Notebook {
    ///     state: AgentState,
    ///     hooks: Hooks,
    /// }
    ///
    /// #[hookable]
    /// impl Agent for Notebook {
    ///     fn state(&self) -> &AgentState {
    ///         &self.state
    ///     }
    ///
    ///     async fn reply(&self, cx: CallContext, messages: Messages) -> Result<Msg, AgentError> {
    ///         let memory = cx.memory().ok_or_else(|| AgentError::other("no store"))?;
    ///         for msg in messages {
    ///             memory.add(msg);
    ///         }
    ///         cx.commit().await?; // from here on, a crash loses nothing
    ///         Ok(Msg::assistant(self.name(), memory.messages().len().to_string()))
    ///     }
    /// }
    ///
    /// # futures::executor::block_on(async {
    /// let store = MemoryStore::new();
    /// let state = AgentState::new("notebook").with_store(store.clone());
    /// let notebook = Notebook { state, hooks: Hooks::new() };
    /// notebook.call("Milk").await?;
    /// assert_eq!(notebook.call("Bread").await?.text(), "2");
    /// assert_eq!(store.threads(Filter::all()).await?[0].messages, 2);
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn with_store(self, store: impl Store) -> Self {
        let name = self.name.clone();
        let store = Some(Arc::new(store) as Arc<dyn Store>);
        let (threads, _) = StoreOptions::default().threads(store, &name, Threads::DEFAULT_MAX_IDLE);
        self.with_threads(threads)
    }

    /// Sets how the agent finds its users: the roles and attributes that a user has now, by the
    /// [user](crate::call::CallOptions::user) whom a call names. It is asked once for each call, also for one
    /// that goes on with the thread of a user without naming the user; without it, the roles of such a user are
    /// [not known](crate::call::User::is_known). Calls that are part of another have the user of that one.
    ///
    /// A call whose user is not found fails with [`AgentError::User`](crate::error::AgentError::User) before any
    /// hook runs; a call that was cut off before stays one that can be resumed.
    ///
    /// ```
    /// use hooks_agent::agent::AgentState;
    /// use hooks_agent::call::User;
    ///
    /// let state = AgentState::new("clerk").with_users(async |user: User| match user.id() {
    ///     "ada" => Ok(user.with_role("manager")),
    ///     id => Err(format!("there is no user {id}").into()),
    /// });
    /// # let _ = state;
    /// ```
    #[must_use]
    pub fn with_users<F>(self, users: impl Fn(User) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<User, BoxError>> + Send + 'static,
    {
        self.with_shared_users(Some(shared_users(users)))
    }

    pub(crate) fn with_shared_users(self, users: Option<Arc<Users>>) -> Self {
        Self { users, ..self }
    }

    pub(super) fn users(&self) -> Option<&Users> {
        self.users.as_deref()
    }

    /// Keeps the threads of the agent there.
    pub(crate) fn with_threads(self, threads: Arc<Threads>) -> Self {
        let id = if threads.is_shared() { self.name.clone() } else { self.id };
        Self { id, threads, is_keeper: true, ..self }
    }

    pub(crate) fn threads(&self) -> &Arc<Threads> {
        &self.threads
    }

    /// Returns the threads, if the agent keeps them here.
    pub(super) fn kept_threads(&self) -> Option<&Arc<Threads>> {
        self.is_keeper.then_some(&self.threads)
    }

    pub(super) fn shutdown(&self) -> &Shutdown {
        &self.shutdown
    }

    /// Returns the globally unique id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn shared_id(&self) -> Arc<str> {
        self.id.clone()
    }

    pub(super) fn shared_name(&self) -> Arc<str> {
        self.name.clone()
    }

    /// Subscribes an agent to the replies of this one: it [observes](Agent::observe) each later
    /// reply, on the thread of the call. The subscription holds a weak reference to the observer.
    pub fn subscribe(&self, observer: &Arc<dyn Agent>) {
        self.lock().push(Arc::downgrade(observer));
    }

    /// Ends the subscription of an agent.
    pub fn unsubscribe(&self, observer: &dyn Agent) {
        self.lock().retain(|known| known.upgrade().is_some_and(|it| it.id() != observer.id()));
    }

    pub(super) fn subscribers(&self) -> Vec<Arc<dyn Agent>> {
        let mut subscribers = self.lock();
        if subscribers.is_empty() {
            return Vec::new();
        }
        subscribers.retain(|known| known.strong_count() > 0);
        subscribers.iter().filter_map(Weak::upgrade).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Weak<dyn Agent>>> {
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for AgentState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentState")
            .field("id", &self.id)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
