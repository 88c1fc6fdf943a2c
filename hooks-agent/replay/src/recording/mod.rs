//! A tape that was read: which calls there are, and where their entries lie in the file. It knows no
//! calls that run.

mod agents;
mod call;
mod conversation;
mod load;
mod recorded;
mod requests;

pub use call::{RecordedCall, RecordedDecision};
pub(crate) use recorded::{Entry, Step};
pub use recorded::{RecordedAgent, Recording};
