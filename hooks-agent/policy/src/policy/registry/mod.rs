//! The hooks that files may use: those that the linker collects, and those that a program
//! registers. Knows how a hook is made of its options, and no hook.

mod features;
mod hooks;
mod schema;

pub(super) use features::{InCode, feature_of};
pub(super) use hooks::Registry;
pub use schema::schema;
pub(super) use schema::schema_of;
