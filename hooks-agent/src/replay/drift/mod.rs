//! What differs between a recording and a replay. It compares values, and knows no calls.

mod compare;
mod decisions;
mod report;
mod same;

pub(in crate::replay) use compare::{Difference, differences};
pub(in crate::replay) use decisions::{Decided, compare_decisions};
pub use report::{Drift, DriftEntry, DriftKind, Verdict};
pub(in crate::replay) use report::{Found, Order};
pub(in crate::replay) use same::{is_cosmetic, is_id, is_reordered};
