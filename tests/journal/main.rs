//! Tests of the module `journal`.

mod answered;
mod builtins;
mod common;
mod cuts;
mod errors;
mod failing;
mod lost;
mod observers;
mod questions;
mod random;
mod replaying;
mod secrets;
mod threads;
