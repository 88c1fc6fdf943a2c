//! Built-in hooks for agents of hooks-agent, by what they are for. Each uses the public API only and is
//! independent of the others.
//!
//! This crate is the module `builtin` of
//! [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent); programs use it from there, as `builtin::guard` and so on.
//! [The guide] says why each hook stands where it stands, and what it does not protect from.
//!
//! [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/builtin_guard/index.html

pub mod answer;
pub mod context;
pub mod control;
pub mod guard;
pub mod limit;
pub mod observe;
pub mod people;
pub mod recover;
