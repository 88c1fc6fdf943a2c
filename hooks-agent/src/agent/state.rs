//! The state that every agent has.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::agent::Agent;
use crate::agent::linked::install_linked;
use crate::agent::turns::Turns;
use crate::run_id::RunId;

/// The state that every agent has: its name and id, the queues of its calls, and its subscribers.
pub struct AgentState {
    id: Arc<str>,
    name: Arc<str>,
    pub(super) turns: Turns,
    subscribers: Mutex<Vec<Weak<dyn Agent>>>,
}

/// The function that prints an agent's text.
pub(crate) type Printer = Arc<dyn Fn(&str) + Send + Sync>;

impl AgentState {
    /// Creates the state of an agent with this name and a new id.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        install_linked();
        let id = RunId::random().to_string().into();
        Self { id, name: name.into(), turns: Turns::default(), subscribers: Mutex::default() }
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
