//! The forms of hooks by phase, their options, and the lists in which hooks wait for their calls.

pub(crate) mod after;
pub(crate) mod around;
pub(crate) mod entry;
pub(crate) mod into_hook;
pub(crate) mod options;
pub(crate) mod pre;
pub(crate) mod settled;
pub(crate) mod stage;
