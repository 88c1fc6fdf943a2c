//! Calls of [hooks-agent](https://docs.rs/hooks-agent) on the durable engine Restate: a call whose process ends is finished by another
//! one, without anybody who calls again.
//!
//! [`Run`] runs an agent inside of a virtual object of your own; [`Agents`] is a ready-made one, with
//! questions to people, interrupts and streams; [`Worker`] serves both.
//!
#![doc = include_str!("../docs/links.md")]
#![doc = include_str!("../docs/engine.md")]

mod driver;
mod error;
mod event;
mod history;
mod journal;
mod limits;
mod log;
mod questions;
mod run;
mod service;
mod state;
mod verdict;
mod worker;

pub use event::RunEvent;
pub use limits::Limits;
pub use run::{Run, run};
pub use service::{Agents, CallRequest, Desk, Feed, StreamPart, StreamRequest};
pub use worker::Worker;
