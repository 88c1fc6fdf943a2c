//! The report of a store, in numbers.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// What a store has in its namespace, in numbers. [`store::check`] returns it, and prints it as a short
/// table.
///
/// [`store::check`]: https://docs.rs/hooks-agent/latest/hooks_agent/store/fn.check.html
///
/// ```
/// use hooks_agent::store::StoreReport;
///
/// let mut report = StoreReport::default();
/// report.threads = 3;
/// assert!(report.to_string().contains("threads        3, 0 cut off in mid-call"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StoreReport {
    /// The version of the schema, if the store has one.
    pub schema: Option<u64>,
    /// The number of threads.
    pub threads: u64,
    /// The number of threads whose last call was
    /// [cut off](crate::store::ThreadInfo::is_cut_off).
    pub cut_off: u64,
    /// The number of messages of conversations.
    pub messages: u64,
    /// The number of messages that were replaced and are kept as history.
    pub archived: u64,
    /// The number of values of hooks.
    pub values: u64,
    /// The number of tool calls without a result.
    pub unanswered: u64,
    /// The number of questions that wait for a decision.
    pub waiting: u64,
    /// The number of questions that are decided and whose thread was not resumed since.
    pub decided: u64,
    /// The number of questions that wait no longer, if the store counts them.
    pub closed: Option<u64>,
    /// The number of [runs](crate::store::Store::run_history), if the store keeps them.
    pub runs: Option<u64>,
    /// How long the oldest question waits, by the store's clock.
    pub oldest_waiting: Option<Duration>,
}

impl fmt::Display for StoreReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(schema) = self.schema {
            writeln!(f, "schema         {schema}")?;
        }
        writeln!(f, "threads        {}, {} cut off in mid-call", self.threads, self.cut_off)?;
        writeln!(f, "messages       {}, {} replaced", self.messages, self.archived)?;
        writeln!(f, "values         {}", self.values)?;
        writeln!(f, "tool calls     {} without a result", self.unanswered)?;
        write!(f, "questions      {} waiting, {} decided", self.waiting, self.decided)?;
        match self.closed {
            Some(closed) => writeln!(f, ", {closed} closed")?,
            None => writeln!(f)?,
        }
        if let Some(runs) = self.runs {
            writeln!(f, "runs           {runs}")?;
        }
        match self.oldest_waiting {
            Some(age) => write!(f, "oldest waits   {}", Age(age)),
            None => write!(f, "oldest waits   -"),
        }
    }
}

/// A time in its two largest units.
struct Age(Duration);

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
        match (days, hours, minutes) {
            (0, 0, 0) => write!(f, "{seconds} s"),
            (0, 0, _) => write!(f, "{minutes} min {} s", seconds % 60),
            (0, _, _) => write!(f, "{hours} h {} min", minutes % 60),
            _ => write!(f, "{days} d {} h", hours % 24),
        }
    }
}
