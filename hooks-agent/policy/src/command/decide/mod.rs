//! Decisions of commands: the answer of one command, and the answers of all commands of an event as
//! one decision. Nothing here starts a program or changes an event.

mod answer;
mod combined;
mod judgement;
mod output;
mod read;
mod refusal;
mod response;
mod unstarted;

pub(super) use answer::{Answer, Verdict};
pub(super) use combined::{Combined, Outcome, Stop, combine};
pub(super) use judgement::read_judgement;
pub(super) use read::read;
pub(super) use response::{read_response, read_text};
