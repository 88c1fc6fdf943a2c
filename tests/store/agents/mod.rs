//! Agents on a store: what a call finds after another process, and after a crash.

mod attack;
mod bad_input;
mod cut_off_calls;
mod forgotten;
mod gate;
mod hidden;
mod limits;
mod people;
mod random_steps;
mod shared;
mod stores;
mod threads;
mod values;
