//! What every agent keeps about itself.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::agent::Agent;
use crate::agent::turns::Turns;
use crate::context::RunId;

/// What every agent keeps about itself: its name and id, the queues of its calls, and the agents that
/// observe its replies.
pub struct AgentState {
    id: Arc<str>,
    name: Arc<str>,
    pub(super) turns: Turns,
    subscribers: Mutex<Vec<Weak<dyn Agent>>>,
}

/// Where the text goes that an agent prints.
pub(crate) type Printer = Arc<dyn Fn(&str) + Send + Sync>;

impl AgentState {
    /// The state of a new agent of that name.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        let id = RunId::random().to_string().into();
        Self { id, name: name.into(), turns: Turns::default(), subscribers: Mutex::default() }
    }

    /// The id, unique everywhere.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name.
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

    /// From now on the other agent [observes](Agent::observe) every reply of this one, on the thread
    /// of the call. It is not kept alive by that.
    pub fn subscribe(&self, observer: &Arc<dyn Agent>) {
        self.lock().push(Arc::downgrade(observer));
    }

    /// The other agent observes no more.
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
