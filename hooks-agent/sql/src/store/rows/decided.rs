//! Decisions as rows.

use hooks_agent_core::store::{Approval, Decided, Reviewed, StoreError, Verdict, Waiting, review};

use crate::database::{Columns, signed, unsigned};
use crate::store::rows::json::write_json;
use crate::store::rows::question::ByApproval;
use crate::store::rows::record::waiting_row;

/// The parameters of the statement that stores a decision.
pub(crate) struct DecidedRow {
    pub(crate) id: String,
    pub(crate) decision: String,
    pub(crate) by: Option<String>,
    pub(crate) at: i64,
}

impl DecidedRow {
    /// Writes a decision. Of one by a remembered approval, its id is kept: it lets the tool run.
    pub(crate) fn new(id: &str, decided: &Decided) -> Result<Self, StoreError> {
        let decision = match &decided.approval {
            Some(approval) => write_json(&ByApproval { approval: approval.clone() }),
            None => write_json(&decided.decision),
        };
        Ok(Self {
            id: id.to_owned(),
            decision: decision?,
            by: decided.by.as_ref().map(ToString::to_string),
            at: signed(decided.at),
        })
    }
}

/// Checks decisions against the rows of their questions, which have the time as an eighth column and the
/// request that decided as a ninth. Returns also what is to be remembered; and nothing if this request has decided
/// already: its answer was lost.
pub(crate) fn decided_rows(
    rows: &[impl Columns],
    verdicts: &[Verdict],
    request: i64,
) -> Result<(Vec<DecidedRow>, Vec<Approval>), StoreError> {
    let of_request = |row| Columns::int_or_null(row, 8).is_ok_and(|found| found == Some(request));
    if rows.len() == verdicts.len() && rows.iter().all(of_request) {
        return Ok(Default::default());
    }
    let questions: Vec<Waiting> = rows.iter().map(waiting_row).collect::<Result<_, _>>()?;
    let now = rows.first().map_or(Ok(0), |row| row.int(7))?;
    let (mut rows, mut approvals) = (Vec::new(), Vec::new());
    let reviewed = review(&questions, verdicts, unsigned(now))?;
    for (verdict, Reviewed { decided, approval, .. }) in verdicts.iter().zip(reviewed) {
        rows.push(DecidedRow::new(&verdict.id, &decided)?);
        approvals.extend(approval);
    }
    Ok((rows, approvals))
}
