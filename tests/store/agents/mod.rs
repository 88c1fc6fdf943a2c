//! Agents on a store: what a call finds after another process, and after a crash.

mod parallel;
mod threads;
