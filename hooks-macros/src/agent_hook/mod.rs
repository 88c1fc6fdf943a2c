//! `#[agent_hook]`: methods that take one event each become an event hook.
//!
//! The attribute and the block are read into options and handlers, which `expand` prints.

mod arguments;
mod around;
pub(crate) mod attribute;
mod expand;
mod handlers;
mod signature;
