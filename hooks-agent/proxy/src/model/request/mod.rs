//! The parts of a request: `texts` finds the texts that an agent sends, by form in `chat`, `responses` and `messages`;
//! `hosted` are the tools that the provider runs, `thread` says whose request it is, `guard` puts all of it to the hooks.

mod chat;
mod guard;
mod hosted;
mod messages;
mod responses;
mod texts;
mod thread;

pub(super) use guard::{Prepared, RequestGuard};
pub(super) use thread::Conversations;
