//! What the module `journal` promises.

mod answered;
mod common;
mod cuts;
mod errors;
mod observers;
mod questions;
mod random;
mod secrets;
mod threads;
