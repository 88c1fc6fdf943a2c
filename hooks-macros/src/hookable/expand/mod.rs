//! Tokens of a block that is understood. Nothing here can fail.

mod args_struct;
mod body;
mod hook_point;
pub(crate) mod hookable_trait;
pub(crate) mod inherent;
mod lints;
mod names;
pub(crate) mod trait_impl;
