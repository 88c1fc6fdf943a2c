//! The hooks that files may use: those that the linker collects, and those that a program
//! registers. Knows how a hook is made of its options, and no hook.

mod factory;
mod features;
mod hook_options;
mod hooks;
mod schema;

pub(super) use factory::{Factory, FromFn, Prepared};
pub(super) use features::{InCode, feature_of};
pub use hook_options::{HookOptions, RegisteredHook, set};
pub(super) use hooks::Registry;
pub use schema::schema;
pub(super) use schema::schema_of;
