//! Which threads or questions are meant.

use std::sync::Arc;
use std::time::Duration;

/// Which threads, or which questions, an operation of a store is about. An empty filter means all of
/// the namespace.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_agent::store::Filter;
///
/// let old = Filter::agent("clerk").unused_for(Duration::from_secs(90 * 24 * 3600));
/// # let _ = old;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Filter {
    /// The name of the agent.
    pub agent: Option<Arc<str>>,
    /// The id of the thread.
    pub thread: Option<Arc<str>>,
    /// The [user](crate::call::CallOptions::user) of the thread.
    pub user: Option<Arc<str>>,
    /// How long the thread was not written.
    pub unused_for: Option<Duration>,
    /// Whether the question is decided. Only questions have it.
    pub is_decided: bool,
    /// How many results are returned at most, the oldest first.
    pub limit: Option<u32>,
}

impl Filter {
    /// All threads or questions of the namespace.
    pub fn all() -> Self {
        Self::default()
    }

    /// Those of the agent of this name.
    pub fn agent(name: impl Into<Arc<str>>) -> Self {
        Self { agent: Some(name.into()), ..Self::default() }
    }

    /// Those of this thread.
    pub fn thread(mut self, id: impl Into<Arc<str>>) -> Self {
        self.thread = Some(id.into());
        self
    }

    /// Those of the threads of this [user](crate::call::CallOptions::user).
    pub fn user(mut self, id: impl Into<Arc<str>>) -> Self {
        self.user = Some(id.into());
        self
    }

    /// Those of threads that were not written for this time.
    pub fn unused_for(mut self, time: Duration) -> Self {
        self.unused_for = Some(time);
        self
    }

    /// Questions that are decided and whose thread was not resumed since, in place of those that wait
    /// for a decision.
    pub fn decided(mut self) -> Self {
        self.is_decided = true;
        self
    }

    /// At most this many, the oldest first.
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }
}
