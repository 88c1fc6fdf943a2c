//! A page that shows what agents do, and takes decisions.
//!
//! `hook` copies the events of calls into `ring`; `server` shows what the ring has, and `approvals`
//! lists and decides what waits. Nothing of it is waited for by a call.

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
