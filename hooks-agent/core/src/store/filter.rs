//! Which threads or questions are meant.

use std::sync::Arc;
use std::time::Duration;

use crate::store::key::ThreadKey;
use crate::store::people::{Approval, Waiting};

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
#[expect(clippy::struct_excessive_bools, reason = "each is a condition of its own")]
pub struct Filter {
    /// The name of the agent.
    pub agent: Option<Arc<str>>,
    /// The id of the thread.
    pub thread: Option<Arc<str>>,
    /// The [user](crate::call::CallOptions::user) of the thread.
    pub user: Option<Arc<str>>,
    /// The name of the tool. Only [approvals](crate::store::Store::approvals) have it.
    pub tool: Option<Arc<str>>,
    /// Whether the approval may still answer questions. Only approvals have it.
    pub is_usable: bool,
    /// The thread, and the user if it has one, of calls that the approval reaches to. Only approvals have it.
    pub reaches: Option<(Arc<str>, Option<Arc<str>>)>,
    /// How long the thread was not written.
    pub unused_for: Option<Duration>,
    /// Whether the question is decided. Only questions have it.
    pub is_decided: bool,
    /// Whether the thread was cut off in mid-call.
    pub is_cut_off: bool,
    /// Whether threads are in the order of their names, and not the oldest first. Only lists of threads
    /// have it.
    pub is_by_name: bool,
    /// The thread after which a list by name begins.
    pub after_thread: Option<ThreadKey>,
    /// The time and the id of the question after which a list of questions begins.
    pub after_question: Option<(u64, Arc<str>)>,
    /// How many results are returned at most, the first ones of the order.
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

    /// [Approvals](crate::store::Approval) for calls of this tool. Only they have it.
    pub fn tool(mut self, name: impl Into<Arc<str>>) -> Self {
        self.tool = Some(name.into());
        self
    }

    /// [Approvals](crate::store::Approval) that may still answer questions. Only they have it.
    pub fn usable(mut self) -> Self {
        self.is_usable = true;
        self
    }

    /// [Approvals](crate::store::Approval) that [reach](crate::store::Approval::reaches) to calls of this user, or
    /// of none, on this thread. Only they have it.
    pub fn reaching(mut self, thread: impl Into<Arc<str>>, user: Option<Arc<str>>) -> Self {
        self.reaches = Some((thread.into(), user));
        self
    }

    /// Returns whether an approval is meant.
    pub(crate) fn means_approval(&self, approval: &Approval, now: u64) -> bool {
        let is = |wanted: &Option<Arc<str>>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == found)
        };
        is(&self.agent, Some(&approval.agent))
            && is(&self.thread, approval.of_thread())
            && is(&self.user, approval.user.as_deref())
            && is(&self.tool, Some(&approval.tool))
            && (!self.is_usable || approval.is_usable(now))
            && self
                .reaches
                .as_ref()
                .is_none_or(|(thread, user)| approval.reaches(thread, user.as_deref()))
    }

    /// Returns whether threads that are forgotten by it are those of a user: the approvals for calls of the user
    /// are forgotten too.
    #[must_use]
    pub fn is_of_user(&self) -> bool {
        let Self { user, thread, unused_for, is_cut_off, limit, .. } = self;
        user.is_some() && thread.is_none() && unused_for.is_none() && !is_cut_off && limit.is_none()
    }

    /// Returns whether it names no agent, thread or user: what belongs to the namespace is meant too.
    #[must_use]
    pub fn is_of_namespace(&self) -> bool {
        self.agent.is_none() && self.thread.is_none() && self.user.is_none()
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

    /// Those whose last call was [cut off](crate::store::ThreadInfo::is_cut_off): a worker resumes them
    /// when it starts.
    pub fn cut_off(mut self) -> Self {
        self.is_cut_off = true;
        self
    }

    /// Threads in the order of their names as the store sorts them, those after this one; `None` begins.
    /// No thread is left out or comes twice, whatever is written meanwhile.
    ///
    /// ```
    /// use hooks_agent::store::{Filter, Store, StoreError};
    ///
    /// async fn names(store: &dyn Store) -> Result<Vec<String>, StoreError> {
    ///     let (mut names, mut after) = (Vec::new(), None);
    ///     loop {
    ///         let page = store.threads(Filter::all().by_name(after).limit(1000)).await?;
    ///         let Some(last) = page.last() else { return Ok(names) };
    ///         after = Some(last.key.clone());
    ///         names.extend(page.iter().map(|thread| thread.key.to_string()));
    ///     }
    /// }
    /// # use hooks_agent::thread::MemoryStore;
    /// # futures::executor::block_on(async {
    /// #     assert!(names(&MemoryStore::new()).await?.is_empty());
    /// #     Ok::<(), StoreError>(())
    /// # }).unwrap();
    /// ```
    pub fn by_name(mut self, after: Option<ThreadKey>) -> Self {
        self.is_by_name = true;
        self.after_thread = after;
        self
    }

    /// Questions after this one, which is the last of the page before. Only questions have it.
    pub fn after(mut self, question: &Waiting) -> Self {
        self.after_question = Some((question.since, question.id.clone()));
        self
    }

    /// At most this many, the first ones of the order: the oldest, unless it is another.
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }
}
