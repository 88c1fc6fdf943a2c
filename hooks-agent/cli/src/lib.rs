//! The program `hooks-agent`: its commands and what they print.
//!
//! This crate is the feature `cli` of [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent), whose program calls [`main`].

#[macro_use]
mod print;

mod approvals;
mod check;
mod deadline;
mod doctor;
mod guard;
mod home;
mod install;
mod policies;
mod program;
mod replay;
mod score;
mod state;
mod stay;
mod trust;

pub use program::main;
