//! Compares a recording with a replay. It works on values alone, without calls.

mod compare;
mod decisions;
mod report;
mod same;

pub(crate) use compare::{Difference, differences};
pub(crate) use decisions::{Decided, compare_decisions};
pub use report::{Drift, DriftEntry, DriftKind, Verdict};
pub(crate) use report::{Found, Order};
pub(crate) use same::{is_cosmetic, is_id, is_reordered};
