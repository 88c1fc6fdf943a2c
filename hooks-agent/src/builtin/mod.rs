//! Built-in hooks, by what they are for. Each uses the public API only and is independent of the others.

pub mod control;
pub mod guard;
pub mod limit;
pub mod observe;
pub mod recover;
