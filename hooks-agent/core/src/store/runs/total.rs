//! Numbers of runs, and their sums.

use std::sync::Arc;

use crate::store::key::{NameError, check_name};
use crate::store::runs::error::RunError;

/// What a run counts for in sums: an amount of a metric, of something that has a kind and a name.
///
/// It must have no content of the run: it stays when the run is forgotten. A kind is `agent`, `model` or `tool`,
/// for instance, and a metric `failed`, `output`, or one bucket of a histogram. Those of the kind
/// [`user`](Self::USER) go with the user of their name, who is the one of the run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct RunTotal {
    /// The kind of what is counted.
    pub kind: Arc<str>,
    /// Its name; it may be empty.
    pub name: Arc<str>,
    /// What is counted of it.
    pub metric: Arc<str>,
    /// How much. More than 2^53 - 1 counts as that much.
    pub value: u64,
}

impl RunTotal {
    /// The kind of users: their totals go when a user is forgotten.
    pub const USER: &str = "user";

    /// Creates a total.
    #[must_use]
    pub fn new(
        kind: impl Into<Arc<str>>,
        name: impl Into<Arc<str>>,
        metric: impl Into<Arc<str>>,
        value: u64,
    ) -> Self {
        Self { kind: kind.into(), name: name.into(), metric: metric.into(), value }
    }

    pub(crate) fn check(&self) -> Result<(), NameError> {
        check_name("kind of the total", &self.kind)?;
        check_name("metric of the total", &self.metric)?;
        if self.name.is_empty() {
            return Ok(());
        }
        check_name("name of the total", &self.name)
    }
}

/// Which sums are asked for: those of the hours that begin in a time, by steps of it.
///
/// ```
/// use hooks_agent::store::RunSums;
///
/// let day = 86_400_000;
/// let month = RunSums::new(0, 30 * day).step(day).kind("model");
/// # let _ = month;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct RunSums {
    /// The first hour, in milliseconds since 1970: the one that this moment is in. Steps begin here.
    pub since: u64,
    /// The end, in milliseconds since 1970. The hour that this moment is in counts, unless it begins then.
    pub until: u64,
    /// The length of a step in milliseconds: whole hours. Days that begin in UTC are summed the fastest.
    pub step: u64,
    /// The kind of totals; all of them without one.
    pub kind: Option<Arc<str>>,
}

impl RunSums {
    /// An hour, in milliseconds.
    pub const HOUR: u64 = 3_600_000;

    /// The sums of each hour of a time.
    pub fn new(since: u64, until: u64) -> Self {
        Self { since, until, step: Self::HOUR, kind: None }
    }

    /// Sets the length of a step in milliseconds; an hour by default.
    pub fn step(mut self, step: u64) -> Self {
        self.step = step;
        self
    }

    /// Asks for totals of this kind alone.
    pub fn kind(mut self, kind: impl Into<Arc<str>>) -> Self {
        self.kind = Some(kind.into());
        self
    }

    /// Returns the first hour, for a store.
    ///
    /// # Errors
    /// [`RunError::Step`] if the step is not a number of whole hours.
    pub fn first_hour(&self) -> Result<u64, RunError> {
        if self.step == 0 || !self.step.is_multiple_of(Self::HOUR) {
            return Err(RunError::Step { millis: self.step });
        }
        Ok(self.since - self.since % Self::HOUR)
    }
}

/// The sum of a total in one step of a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct SummedTotal {
    /// When the step begins, in milliseconds since 1970.
    pub at: u64,
    /// The kind of what is counted.
    pub kind: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// What is counted of it.
    pub metric: Arc<str>,
    /// How much, up to 2^53 - 1.
    pub value: u64,
}

impl SummedTotal {
    /// Creates a sum.
    #[must_use]
    pub fn new(at: u64, of: RunTotal) -> Self {
        let RunTotal { kind, name, metric, value } = of;
        Self { at, kind, name, metric, value }
    }
}
