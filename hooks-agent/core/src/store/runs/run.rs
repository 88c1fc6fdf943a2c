//! A run that is kept.

use std::sync::Arc;

use crate::run_id::RunId;
use crate::store::error::StoreError;
use crate::store::key::check_name;
use crate::store::runs::error::RunError;
use crate::store::runs::total::RunTotal;

/// A run as it is kept: one call of an agent, also one inside of another call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptRun {
    /// Its id, unique in the namespace of the store.
    pub run: RunId,
    /// The name of the agent.
    pub agent: Arc<str>,
    /// The id of the thread.
    pub thread: Arc<str>,
    /// The id of the user, if the call had one.
    pub user: Option<Arc<str>>,
    /// The run that it is part of.
    pub parent: Option<RunId>,
    /// The name of its state, such as `waiting`.
    pub state: Arc<str>,
    /// When it began, in milliseconds since 1970.
    pub started: u64,
    /// When it ended, in milliseconds since 1970.
    pub ended: Option<u64>,
    /// What lists show of it, as JSON that the store does not read.
    pub summary: String,
    /// All that was seen of it, as JSON that the store does not read.
    pub entries: String,
    /// What is searched: any text, of which the first [`LONGEST_TEXT`](Self::LONGEST_TEXT) bytes count. The
    /// store keeps [its words](crate::store::text_words) alone, and a run that is read has these.
    pub text: String,
    /// What it counts for in [sums](crate::store::RunHistory::totals). Those of the same kind, name and metric are
    /// added up; a run that is read has each once, in order.
    pub totals: Vec<RunTotal>,
}

impl KeptRun {
    /// The length of the longest summary, in bytes.
    pub const LONGEST_SUMMARY: usize = 64 << 10;

    /// The length of the longest entries, in bytes.
    pub const LONGEST_ENTRIES: usize = 16 << 20;

    /// The length of the text that is searched, in bytes. What follows is left out.
    pub const LONGEST_TEXT: usize = 64 << 10;

    /// How many totals a run has at most.
    pub const MOST_TOTALS: usize = 4096;

    /// The latest time, in milliseconds since 1970.
    const LATEST: u64 = 1 << 53;

    /// Creates a run that began at a time, in milliseconds since 1970. It is `running`, and has no content.
    #[must_use]
    pub fn new(
        run: RunId,
        agent: impl Into<Arc<str>>,
        thread: impl Into<Arc<str>>,
        started: u64,
    ) -> Self {
        Self {
            run,
            agent: agent.into(),
            thread: thread.into(),
            user: None,
            parent: None,
            state: "running".into(),
            started,
            ended: None,
            summary: "null".to_owned(),
            entries: "[]".to_owned(),
            text: String::new(),
            totals: Vec::new(),
        }
    }

    /// Checks what a store requires of a run: so that one that is refused does not keep others from being added.
    ///
    /// # Errors
    /// [`StoreError::Name`] if a name cannot be stored; the name of a total may be empty.
    /// [`RunError`] if a part is too large or has a NUL character, or if a total is of another user.
    pub fn check(&self) -> Result<(), StoreError> {
        check_name("name of the agent", &self.agent)?;
        check_name("id of the thread", &self.thread)?;
        check_name("state of the run", &self.state)?;
        if let Some(user) = &self.user {
            check_name("id of the user", user)?;
        }
        self.totals.iter().try_for_each(RunTotal::check)?;
        let is_of_other = |total: &RunTotal| {
            *total.kind == *RunTotal::USER && Some(&*total.name) != self.user.as_deref()
        };
        if self.totals.iter().any(is_of_other) {
            return Err(RunError::User { run: self.run }.into());
        }
        self.check_size("summary", self.summary.len(), Self::LONGEST_SUMMARY)?;
        self.check_size("entries", self.entries.len(), Self::LONGEST_ENTRIES)?;
        self.check_size("totals", self.totals.len(), Self::MOST_TOTALS)?;
        for (what, json) in [("summary", &self.summary), ("entries", &self.entries)] {
            if json.contains('\0') {
                return Err(RunError::Nul { run: self.run, what }.into());
            }
        }
        if self.started > Self::LATEST || self.ended.is_some_and(|ended| ended > Self::LATEST) {
            return Err(RunError::Time { run: self.run }.into());
        }
        Ok(())
    }

    fn check_size(&self, what: &'static str, found: usize, most: usize) -> Result<(), RunError> {
        if found > most {
            return Err(RunError::TooLarge { run: self.run, what, found, most });
        }
        Ok(())
    }
}
