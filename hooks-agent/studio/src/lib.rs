//! The studio: a page that shows what agents do, and takes decisions.
//!
//! This crate is the feature `studio` of [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent); programs use it from there, as
//! `builtin::connect::Studio`. [The guide] has what the page shows.
//!
//! `hook` copies the events of calls into `ring`; `server` shows what the ring has, and `approvals`
//! lists and decides what waits. `worker` sends what the ring has to a studio that it `join`s. Nothing of it is waited for
//! by a call.
//!
//! [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/studio/index.html

mod access;
mod agents;
mod approvals;
mod builder;
mod entry;
mod error;
mod export;
mod history;
mod hook;
mod join;
mod overview;
mod page;
mod prices;
mod ring;
mod search;
mod server;
mod shared;
mod threads;
mod totals;
#[cfg(feature = "join")]
mod worker;

pub use access::StudioPart;
pub use builder::Studio;
pub use error::StudioError;
pub use hook::StudioHook;
pub use server::StudioServer;
#[cfg(feature = "join")]
pub use worker::StudioWorker;
