//! The studio: a page that shows what agents do, and takes decisions.
//!
//! This crate is the feature `studio` of [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent); programs use it from there, as
//! `builtin::connect::Studio`. [The guide] has what the page shows.
//!
//! `hook` copies the events of calls into `ring`; `server` shows what the ring has, and `approvals`
//! lists and decides what waits. Nothing of it is waited for by a call.
//!
//! [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/studio/index.html

mod agents;
mod approvals;
mod builder;
mod error;
mod hook;
mod page;
mod ring;
mod server;
mod shared;

pub use builder::Studio;
pub use error::StudioError;
pub use hook::StudioHook;
pub use server::StudioServer;
