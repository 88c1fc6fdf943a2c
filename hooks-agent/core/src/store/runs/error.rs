//! The errors of runs that are kept.

use crate::run_id::RunId;

/// Why a run, or a question about runs, is refused. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A part of a run is too large.
    #[error("the {what} of run {run} has {found}, at most {most} are allowed")]
    TooLarge {
        /// The run.
        run: RunId,
        /// The part.
        what: &'static str,
        /// How many bytes it has, or how many totals there are.
        found: usize,
        /// How many are allowed.
        most: usize,
    },
    /// A part of a run has a NUL character, which JSON has only as an escape.
    #[error("the {what} of run {run} has a NUL character")]
    Nul {
        /// The run.
        run: RunId,
        /// The part.
        what: &'static str,
    },
    /// A total counts for a user who is not the one of the run, with whom it would not be forgotten.
    #[error("a total of run {run} is of another user than the run")]
    User {
        /// The run.
        run: RunId,
    },
    /// A time is later than what a store keeps.
    #[error("run {run} has a time of more than 2^53 milliseconds")]
    Time {
        /// The run.
        run: RunId,
    },
    /// Too many words are searched.
    #[error("{found} words are searched, at most {most} are allowed")]
    TooManyWords {
        /// How many words there are.
        found: usize,
        /// How many are allowed.
        most: usize,
    },
    /// A step of sums is not a number of whole hours.
    #[error("a step of {millis} ms is asked for, expected whole hours")]
    Step {
        /// The step.
        millis: u64,
    },
}
