//! Hook points as types: a hooked method, what it returns, whether it is async, and its hook types.
//! The macros implement what is here; everything above is generic over it.

pub(crate) mod call_mode;
pub(crate) mod hook_point;
pub(crate) mod hook_slot;
pub(crate) mod return_kind;
