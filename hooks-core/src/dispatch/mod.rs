//! A call: the hooks that it found when it started, run around its body. Everything here lives for
//! one call; the way in is `run`.

mod around;
mod call;
mod engine;
mod failure;
pub(crate) mod guard;
mod limits;
pub(crate) mod receiver;
pub(crate) mod run;
mod settled;
pub(crate) mod snapshot;
mod trace;
