//! Decisions of commands: the answer of one command, and the answers of all commands of an event as
//! one decision. Nothing here starts a program or changes an event.

mod answer;
mod combined;
mod read;
mod refusal;
mod unstarted;

pub(super) use answer::{Answer, Verdict};
pub(super) use combined::{Combined, Outcome, Stop, combine};
pub(super) use read::read;
