//! A call: the hooks that it found when it started, run around its body. Everything here lives for
//! one call; the ways in are `run` and `run_now`.

mod around;
mod call;
mod drive;
mod engine;
mod limits;
pub(crate) mod point_hooks;
pub(crate) mod receiver;
mod report;
pub(crate) mod run;
pub(crate) mod run_now;
mod settled;
pub(crate) mod snapshot;
pub(crate) mod stack;
mod steps;
pub(crate) mod way;
