//! Why a step was not written.

use hooks_agent_core::store::{Lease, StoreError};

use crate::database::{Columns, unsigned};

/// What is known of a step that was not written, if its lease and its version are not the reason.
pub(crate) enum Known {
    /// An earlier attempt wrote it, and its answer was lost.
    Written,
    /// Nothing.
    Nothing,
}

/// Returns why a step was not written, by the row of [`OWNER`](crate::store::statements::Statements).
pub(crate) fn refusal(
    lease: &Lease,
    expected: u64,
    digest: i64,
    rows: &[impl Columns],
) -> Result<Known, StoreError> {
    let lost = || Err(StoreError::LeaseLost { thread: lease.thread.clone() });
    let Some(row) = rows.first() else { return lost() };
    let owner = row.text_or_null(0)?;
    let is_owner = owner == Some(lease.owner.to_string());
    let is_last = unsigned(row.int(1)?) == lease.fence;
    let found = unsigned(row.int(2)?);
    let is_same = row.int(3)? == digest;
    // A step may have released the lease; the fencing number is the owner's still.
    if is_last && found == expected + 1 && is_same {
        return Ok(Known::Written);
    }
    if !is_owner || !is_last {
        return lost();
    }
    if found == expected {
        return Ok(Known::Nothing);
    }
    Err(StoreError::Conflict { thread: lease.thread.clone(), expected, found })
}
