//! What is registered: tables of hooks, per instance and per hooked method of a class, and what
//! the linker knows. Nothing here knows the type of a hook.

pub(crate) mod class;
pub(crate) mod hooks;
pub(crate) mod linked;
pub(crate) mod methods;
mod swap;
pub(crate) mod table;
pub(crate) mod type_name;
