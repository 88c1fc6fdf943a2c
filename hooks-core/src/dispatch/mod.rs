//! A call: the hooks that it found when it started, run around its body. Everything here lives for
//! one call; the ways in are `run` and `run_now`.

mod around;
mod call;
pub(crate) mod carry;
mod drive;
mod engine;
mod failure;
mod guard;
mod limits;
pub(crate) mod point_hooks;
pub(crate) mod receiver;
pub(crate) mod run;
pub(crate) mod run_now;
mod settled;
pub(crate) mod snapshot;
mod steps;
mod trace;
pub(crate) mod way;
