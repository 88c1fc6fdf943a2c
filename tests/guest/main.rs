//! What the module `guest` and the program `agent-hooks` promise.

mod decisions;
mod documented;
mod loops;
mod pages;
mod program;
mod replays;
mod results;
mod sources;
mod threads;
