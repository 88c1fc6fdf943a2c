//! Approvals as rows.

use hooks_agent_core::store::{Approval, StoreError};

use crate::database::{Columns, unsigned};
use crate::store::rows::json::read_json;

/// Reads an approval: its body, how often it was used and for how much, who revoked it and when. The columns win
/// over the JSON.
pub(crate) fn approval_of(row: &impl Columns) -> Result<Approval, StoreError> {
    let mut approval: Approval = read_json("an approval", &row.text(0)?)?;
    approval.uses = unsigned(row.int(1)?);
    approval.sum = unsigned(row.int(2)?);
    approval.revoked_by = row.text_or_null(3)?.map(Into::into);
    approval.revoked_at = row.int_or_null(4)?.map(unsigned);
    Ok(approval)
}
