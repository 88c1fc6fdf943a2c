//! A run as something that a person takes away: a test that replays it.

mod code;
mod replayed;

pub(super) use replayed::{NotReplayed, test_of};
