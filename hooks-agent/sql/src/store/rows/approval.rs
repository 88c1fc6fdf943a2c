//! Approvals as rows.

use hooks_agent_core::store::{Approval, Reach, StoreError};

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

/// What an approval reaches to that is for everybody.
const ALL: &str = "all";

/// Returns what an approval reaches to, as its column has it: the rows of others are not read.
pub(crate) fn scope_of(approval: &Approval) -> String {
    match approval.reach {
        Reach::Thread => of_thread(&approval.thread),
        Reach::User => of_user(approval.user.as_deref().unwrap_or_default()),
        _ => ALL.to_owned(),
    }
}

/// Returns what approvals reach to that may answer calls of a user, or of none, on a thread.
pub(crate) fn scopes_of(thread: &str, user: Option<&str>) -> Vec<String> {
    [ALL.to_owned(), of_thread(thread)].into_iter().chain(user.map(of_user)).collect()
}

fn of_thread(thread: &str) -> String {
    format!("thread {thread}")
}

fn of_user(user: &str) -> String {
    format!("user {user}")
}
