//! Tests of the module `journal`.

mod answered;
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
