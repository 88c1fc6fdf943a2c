//! Agents on a store: what a call finds after another process, and after a crash.

mod cancelled;
mod gate;
mod parallel;
mod threads;
