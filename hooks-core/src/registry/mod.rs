//! The registry: the hooks of an instance, and those that the linker collected.
//!
//! Tables of hooks, per instance and per hooked method of a class. Nothing here knows the type of a hook.

pub(crate) mod class;
pub(crate) mod hooks;
pub(crate) mod linked;
pub(crate) mod list;
pub(crate) mod methods;
pub(crate) mod order;
pub(crate) mod registration;
mod swap;
pub(crate) mod table;
pub(crate) mod type_name;

pub use hooks::{HasHooks, Hooks};
pub use linked::{LinkedClassHook, class_hooks};
