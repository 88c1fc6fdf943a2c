//! Answers of an upstream: `events` reads them, `chain` puts their pieces through the hooks, `decide` asks about
//! tool calls and results, `stream` and `whole` write what comes out. `chat`, `responses` and `messages` are the forms;
//! `scrub` takes out what nobody has looked at.

mod chain;
mod chat;
mod decide;
mod events;
mod frames;
mod messages;
mod piece;
mod responses;
mod scrub;
mod stream;
mod whole;

pub(super) use chain::waiting;
pub(super) use stream::{Answer, streamed};
pub(super) use whole::whole;
