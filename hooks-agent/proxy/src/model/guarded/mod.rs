//! Hooks on prompts, results, tool calls and answers: `session` asks them, on a thread of `threads`; `known`
//! keeps what they made of a text.

mod call;
mod known;
mod session;
mod threads;

pub(super) use call::{Call, CallVerdict, ResultVerdict};
pub(super) use known::{Known, Outcome, TextKey};
pub(super) use session::{Refused, Session};
pub use threads::ProxyThreads;
