//! Which runs are meant, and pages of them.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::run_id::RunId;

/// Which runs are listed. An empty filter means all of the namespace.
///
/// ```
/// use hooks_agent::store::RunFilter;
///
/// let failed = RunFilter::all().agent("clerk").state("failed").words("bank timeout").limit(20);
/// # let _ = failed;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct RunFilter {
    /// The name of the agent.
    pub agent: Option<Arc<str>>,
    /// The id of the user.
    pub user: Option<Arc<str>>,
    /// The id of the thread.
    pub thread: Option<Arc<str>>,
    /// The name of the state.
    pub state: Option<Arc<str>>,
    /// What the text of a run has: each word of this begins one of it.
    pub words: Option<String>,
    /// When the run began at the earliest, in milliseconds since 1970.
    pub since: Option<u64>,
    /// Before which time the run began, in milliseconds since 1970.
    pub until: Option<u64>,
    /// Where the page before this one ended.
    pub before: Option<RunCursor>,
    /// How many runs a page has at most; 50 by default.
    pub limit: u32,
}

impl RunFilter {
    /// How many runs a page has at most, whatever its limit is.
    pub const LARGEST_PAGE: u32 = 1000;

    /// How many words are searched at most.
    pub const MOST_WORDS: usize = 16;

    /// All runs of the namespace.
    pub fn all() -> Self {
        Self {
            agent: None,
            user: None,
            thread: None,
            state: None,
            words: None,
            since: None,
            until: None,
            before: None,
            limit: 50,
        }
    }

    /// Those of the agent of this name.
    pub fn agent(mut self, name: impl Into<Arc<str>>) -> Self {
        self.agent = Some(name.into());
        self
    }

    /// Those of this user.
    pub fn user(mut self, id: impl Into<Arc<str>>) -> Self {
        self.user = Some(id.into());
        self
    }

    /// Those of this thread.
    pub fn thread(mut self, id: impl Into<Arc<str>>) -> Self {
        self.thread = Some(id.into());
        self
    }

    /// Those in this state.
    pub fn state(mut self, name: impl Into<Arc<str>>) -> Self {
        self.state = Some(name.into());
        self
    }

    /// Those whose text has, for each [word](crate::store::words_of) of this one, a word that begins with it.
    /// There is no other syntax. A text without a word finds nothing.
    pub fn words(mut self, text: impl Into<String>) -> Self {
        self.words = Some(text.into());
        self
    }

    /// Those that began at this time or later, in milliseconds since 1970.
    pub fn since(mut self, time: u64) -> Self {
        self.since = Some(time);
        self
    }

    /// Those that began before this time, in milliseconds since 1970.
    pub fn until(mut self, time: u64) -> Self {
        self.until = Some(time);
        self
    }

    /// Those after the page that ended here.
    pub fn before(mut self, cursor: RunCursor) -> Self {
        self.before = Some(cursor);
        self
    }

    /// At most this many, from 1 to [`LARGEST_PAGE`](Self::LARGEST_PAGE).
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = limit.clamp(1, Self::LARGEST_PAGE);
        self
    }

    /// Returns how many runs a page has at most, from 1 to [`LARGEST_PAGE`](Self::LARGEST_PAGE), for a store.
    #[must_use]
    pub fn page_size(&self) -> u32 {
        self.limit.clamp(1, Self::LARGEST_PAGE)
    }
}

/// A page of a list of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunPage {
    /// The [summaries](crate::store::KeptRun::summary) of the runs, the newest first.
    pub summaries: Vec<String>,
    /// Where the next page begins, if there are more.
    pub next: Option<RunCursor>,
}

impl RunPage {
    /// Creates a page.
    #[must_use]
    pub fn new(summaries: Vec<String>, next: Option<RunCursor>) -> Self {
        Self { summaries, next }
    }
}

/// Where a page of runs ends: its last run. Its text is a time and an id, which it can be read from again.
///
/// ```
/// use hooks_agent::store::RunCursor;
///
/// let cursor: RunCursor = "1700000000000.6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5".parse()?;
/// assert_eq!(cursor.started, 1_700_000_000_000);
/// assert_eq!(cursor.to_string().parse(), Ok(cursor));
/// # Ok::<(), hooks_agent::store::ParseRunCursorError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunCursor {
    /// When the run began, in milliseconds since 1970.
    pub started: u64,
    /// The id of the run.
    pub run: RunId,
}

/// The error of a text that is not a [`RunCursor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text is not the end of a page of runs, expected a time and a run id")]
#[non_exhaustive]
pub struct ParseRunCursorError;

impl fmt::Display for RunCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.started, self.run)
    }
}

impl FromStr for RunCursor {
    type Err = ParseRunCursorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (started, run) = text.split_once('.').ok_or(ParseRunCursorError)?;
        Ok(Self {
            started: started.parse().map_err(|_| ParseRunCursorError)?,
            run: run.parse().map_err(|_| ParseRunCursorError)?,
        })
    }
}
