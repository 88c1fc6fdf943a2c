//! Tests of the crate `hooks-restate`, with a real server of Restate, which `.ci/servers` installs;
//! skipped without it.

mod agents;
mod calls;
mod cancel;
mod deploy;
mod doors;
mod engine;
mod keys;
mod kills;
mod people;
mod poison;
mod stage;
mod stream;
mod worker;
