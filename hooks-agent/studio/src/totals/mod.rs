//! Numbers that add up: what runs come to, of one run, of the ring, and of the history.

mod counts;
mod durations;
mod metric;
mod of_run;
mod spans;
mod sums;

pub(super) use counts::Counts;
pub(super) use metric::Metric;
pub(super) use of_run::totals_of;
pub(super) use sums::{Of, Totals};
