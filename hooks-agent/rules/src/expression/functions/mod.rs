//! The functions of expressions, and what they read: hosts, paths, amounts, times.

pub(super) mod glob;
pub(super) mod host;
pub(super) mod money;
pub(super) mod numbers;
pub(super) mod table;
pub(super) mod times;
