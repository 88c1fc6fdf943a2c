//! Agents on a store: what a call finds after another process, and after a crash.

mod attacks;
mod cut_off;
mod digest;
mod expiry;
mod people;
mod random_steps;
mod stores;
mod threads;
