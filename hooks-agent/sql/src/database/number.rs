//! Numbers as databases have them.

use std::time::Duration;

/// The longest time that is added to a clock, in milliseconds: above it, sums would overflow.
const LONGEST: i64 = 1 << 60;

/// Returns a number for the database, which has signed ones.
#[must_use]
pub fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns a number that the database has as a signed one.
#[must_use]
pub fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

/// Returns a time in milliseconds.
#[must_use]
pub fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(LONGEST).min(LONGEST)
}

/// Returns a random id, of 62 bits.
#[must_use]
pub fn random_id() -> i64 {
    let (_, low) = uuid::Uuid::new_v4().as_u64_pair();
    i64::try_from(low & (u64::MAX >> 1)).unwrap_or(i64::MAX)
}
