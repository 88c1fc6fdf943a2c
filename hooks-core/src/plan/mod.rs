//! What will run: the hooks of an instance in order, and how a hook type is named by text.

pub(crate) mod hook_plan;
pub(crate) mod select;
#[cfg(feature = "serde")]
mod serialize;
