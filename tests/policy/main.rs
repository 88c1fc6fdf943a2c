//! What the module `policy` promises.

mod commands;
mod example;
mod hooks;
mod limits;
mod reloads;
mod secrets;
mod support;
mod texts;
mod vectors;
mod versions;
