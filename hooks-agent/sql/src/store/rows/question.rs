//! Questions as rows.

use std::sync::Arc;

use hooks_agent_core::store::{Decided, Decision, StoreError, Waiting};
use serde::{Deserialize, Serialize};

use crate::database::{Columns, DatabaseError, unsigned};
use crate::store::rows::json::read_json;

/// The columns of a question.
pub(crate) struct Question {
    pub(crate) body: String,
    pub(crate) since: i64,
    pub(crate) expires: Option<i64>,
    pub(crate) decision: Option<String>,
    pub(crate) decided_by: Option<String>,
    pub(crate) decided_at: Option<i64>,
    pub(crate) closed: i64,
}

impl Question {
    /// Reads the columns of a question: its body, since when it waits, when it expires, the decision,
    /// who decided and when; and whether it is closed, unless all of them are not.
    pub(crate) fn read(
        row: &impl Columns,
        [body, since, expires, decision, by, at]: [usize; 6],
        closed: Option<usize>,
    ) -> Result<Self, DatabaseError> {
        Ok(Self {
            body: row.text(body)?,
            since: row.int(since)?,
            expires: row.int_or_null(expires)?,
            decision: row.text_or_null(decision)?,
            decided_by: row.text_or_null(by)?,
            decided_at: row.int_or_null(at)?,
            closed: closed.map_or(Ok(0), |closed| row.int(closed))?,
        })
    }
}

/// A decision by a remembered approval, as JSON: that the tool runs.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ByApproval {
    /// The id of the approval.
    pub(crate) approval: Arc<str>,
}

/// A decision as JSON.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredDecision {
    ByApproval(ByApproval),
    Given(Decision),
}

/// Reads a question. Its columns win over its JSON.
pub(crate) fn question_of(row: Question) -> Result<Waiting, StoreError> {
    let mut waiting: Waiting = read_json("a question", &row.body)?;
    waiting.since = unsigned(row.since);
    waiting.expires = row.expires.map(unsigned);
    waiting.is_closed = row.closed != 0;
    waiting.decided = match row.decision {
        None => None,
        Some(decision) => {
            let (decision, approval) = match read_json("a decision", &decision)? {
                StoredDecision::ByApproval(by) => (Decision::Approve, Some(by.approval)),
                StoredDecision::Given(decision) => (decision, None),
            };
            let (by, at) = (row.decided_by.map(Into::into), row.decided_at.map_or(0, unsigned));
            Some(Decided::new(decision, by, at).by_approval(approval))
        }
    };
    Ok(waiting)
}
