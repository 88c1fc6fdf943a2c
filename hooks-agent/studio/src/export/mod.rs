//! A run as something that a person takes away: a test that replays it, a tape.

mod code;
mod replayed;
#[cfg(feature = "tape")]
mod taped;

pub(super) use replayed::{NotReplayed, test_of};
#[cfg(feature = "tape")]
pub(super) use taped::tape_of;
