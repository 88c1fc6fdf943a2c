//! Hooks for agents that are written elsewhere: a coding agent runs the program `hooks-agent` as its hook, which
//! runs the event hooks of a [source](hooks_agent_core::react::HookSource), such as a policy, and answers by the
//! [contract of commands](hooks_agent_policy::command).
//!
//! This crate is the feature `guest` of [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent); programs use it from there.

mod answer;
mod contract;
mod decided;
mod dialect;
mod event;
mod guard;
#[cfg(feature = "live")]
mod live;
mod prompt;
mod seam;
mod stop;
mod thread;
#[cfg(feature = "sqlite")]
mod threads;
mod tool_result;
mod tool_use;

pub use dialect::{Answer, Canary, Dialect, Received, UnknownDialect, Unread};
pub use guard::Guard;
#[cfg(feature = "live")]
pub use live::LiveThreads;
pub use prompt::Screened;
pub use thread::GuestThread;
#[cfg(feature = "sqlite")]
pub use threads::{GuestThreads, GuestThreadsError};
