//! Agents, their events and hooks, and what models, tools and stores are.
//!
//! This is the part of [`hooks-agent`](https://docs.rs/hooks-agent) that everything else of it stands on,
//! under the same paths. Programs depend on `hooks-agent`. A library that publishes a hook, a model, a
//! tool or a store depends on this crate alone, and what it publishes fits every program:
//!
//! ```
//! use hooks_agent_core::event::{Flow, PreActing};
//! use hooks_agent_core::agent_hook;
//!
//! /// Refuses tools whose names begin with `delete`.
//! pub struct NoDeletes;
//!
//! #[agent_hook]
//! impl NoDeletes {
//!     fn refuse(&self, event: &mut PreActing<'_>) -> Flow {
//!         if event.tool_use().name.starts_with("delete") {
//!             return event.refuse("nothing is deleted here");
//!         }
//!         Flow::Continue
//!     }
//! }
//! ```
//!
//! Most of them begin with `use hooks_agent_core::prelude::*;`.
//!
//! # Features
//!
//! | feature | |
//! |---|---|
//! | `globs` | [`Globs`](options::Globs) of names, for crates that read files |
//! | `schema` | [`Decision::Edit`](store::Decision::Edit): people edit arguments, which are checked against the schema of the tool |
//! | `testing` | `testing`: tests of hooks, tools and agents |
//! | `tiktoken` | `TokenCounter::tiktoken` |

#[path = "private.rs"]
#[doc(hidden)]
pub mod __private;
pub mod agent;
pub mod call;
mod digest;
pub mod error;
pub mod event;
pub mod hook;
mod identity;
pub mod journal;
#[doc(hidden)]
pub mod macros;
pub mod memory;
pub mod message;
pub mod model;
pub mod options;
pub mod prelude;
pub mod react;
mod report;
pub mod round;
mod run_id;
pub mod store;
pub mod stream;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;
pub mod thread;
pub mod tool;
mod usage;
pub mod user;

pub use hooks_core;
pub use hooks_core::{HookError, HookResult, HookRole, Hookable, Hooks, hook, hookable};

#[doc(hidden)]
pub use macros::__on;
pub use macros::{agent_hook, tool};
