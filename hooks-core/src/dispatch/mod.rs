//! A call: the hooks that it found when it started, run around its body. Everything here lives for
//! one call; the way in is `run`.

mod around;
mod call;
pub(crate) mod carry;
mod engine;
mod failure;
mod guard;
mod limits;
pub(crate) mod receiver;
pub(crate) mod run;
mod settled;
pub(crate) mod snapshot;
mod trace;
