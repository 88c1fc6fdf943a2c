//! What memories in SQL databases share: the statements, the rows, the errors.

mod failure;
mod row;
mod statements;

pub(super) use failure::{describe, memories_error};
pub(super) use row::{NewRow, key_of, read_all, read_removed, signed};
pub(super) use statements::statements;

/// The version of the tables that this program writes.
pub(super) const LATEST: i64 = 1;

/// Returns a number of entries as the database has it.
pub(super) fn limit_of(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
