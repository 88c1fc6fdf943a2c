//! Decisions as rows.

use hooks_agent_core::store::{Decided, StoreError, Verdict, Waiting, review};

use crate::database::{Columns, signed, unsigned};
use crate::store::rows::json::write_json;
use crate::store::rows::record::waiting_row;

/// The parameters of the statement that stores a decision.
pub(crate) struct DecidedRow {
    pub(crate) id: String,
    pub(crate) decision: String,
    pub(crate) by: Option<String>,
    pub(crate) at: i64,
}

/// Checks decisions against the rows of their questions, which have the time as an eighth column and the
/// request that decided as a ninth. Returns no rows if this request has decided already: its answer was
/// lost.
pub(crate) fn decided_rows(
    rows: &[impl Columns],
    verdicts: &[Verdict],
    request: i64,
) -> Result<Vec<DecidedRow>, StoreError> {
    let of_request = |row| Columns::int_or_null(row, 8).is_ok_and(|found| found == Some(request));
    if rows.len() == verdicts.len() && rows.iter().all(of_request) {
        return Ok(Vec::new());
    }
    let questions: Vec<Waiting> = rows.iter().map(waiting_row).collect::<Result<_, _>>()?;
    let now = rows.first().map_or(Ok(0), |row| row.int(7))?;
    let decided = review(&questions, verdicts, unsigned(now))?;
    let row = |(verdict, decided): (&Verdict, Decided)| {
        Ok(DecidedRow {
            id: verdict.id.to_string(),
            decision: write_json(&decided.decision)?,
            by: decided.by.map(|by| by.to_string()),
            at: signed(decided.at),
        })
    };
    verdicts.iter().zip(decided).map(row).collect()
}
