//! Runs that are kept: added by whoever watches agents, outside of the steps of calls; listed, searched and
//! summed for days and weeks.

mod contract;
mod error;
mod filter;
mod run;
mod total;
mod words;

pub use contract::RunHistory;
pub use error::RunError;
pub use filter::{ParseRunCursorError, RunCursor, RunFilter, RunPage};
pub use run::KeptRun;
pub use total::{RunSums, RunTotal, SummedTotal};
pub use words::{text_words, words_of};
