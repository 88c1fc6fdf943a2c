//! What the crate `hooks-restate` promises, with a real server of Restate, which `.ci/restate` installs;
//! skipped without it.

mod calls;
mod engine;
mod kills;
mod worker;
