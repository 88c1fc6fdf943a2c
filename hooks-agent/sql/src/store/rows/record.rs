//! Records out of rows.

use std::time::Duration;

use hooks_agent_core::store::{
    CallRecord, HistoryRow, Lease, StoreError, StoreReport, StoredMessage, ThreadInfo, ThreadKey,
    ThreadRecord, Waiting,
};
use serde_json::Value;

use crate::database::{Columns, unsigned};
use crate::store::rows::json::read_json;
use crate::store::rows::question::{Question, question_of};
use crate::store::schema::LATEST;

/// Reads a thread from the rows of [`LOAD`](crate::store::statements::Statements).
///
/// # Errors
/// [`StoreError::LeaseLost`] if the thread is not that of the lease.
pub(crate) fn thread_record(
    lease: &Lease,
    rows: &[impl Columns],
) -> Result<ThreadRecord, StoreError> {
    let mut record = ThreadRecord::default();
    let mut is_owned = false;
    for row in rows {
        match row.int(0)? {
            0 => {
                let owner = row.text_or_null(4)?;
                let fence = unsigned(row.int(3)?);
                is_owned = owner == Some(lease.owner.to_string()) && fence == lease.fence;
                record.version = unsigned(row.int(1)?);
                record.next = unsigned(row.int(2)?);
                let state = row.text(5)?;
                record.state = read_json(&format!("the state of {}", lease.thread), &state)?;
            }
            1 => record.messages.push(stored_message(&lease.thread, row)?),
            2 => {
                let (name, value) = value_of(&lease.thread, row, (4, 5))?;
                record.values.insert(name, value);
            }
            3 => {
                let body = row.text(5)?;
                let what = format!("a tool call of {}", lease.thread);
                record.calls.push(read_json::<CallRecord>(&what, &body)?);
            }
            _ => {
                let waiting = Question::read(row, [5, 1, 2, 6, 7, 3], None)?;
                record.waiting.push(question_of(waiting)?);
            }
        }
    }
    if !is_owned {
        return Err(StoreError::LeaseLost { thread: lease.thread.clone() });
    }
    record.messages.sort_by_key(|message| (message.place, message.seq));
    record.calls.sort_by(|one, other| one.key.cmp(&other.key));
    record.waiting.sort_by(|one, other| (one.since, &one.id).cmp(&(other.since, &other.id)));
    Ok(record)
}

fn stored_message(key: &ThreadKey, row: &impl Columns) -> Result<StoredMessage, StoreError> {
    let seq = unsigned(row.int(1)?);
    let msg = read_json("a message", &row.text(5)?).map_err(|error| named(error, key, seq))?;
    Ok(StoredMessage::new(seq, unsigned(row.int(2)?), msg))
}

fn named(error: StoreError, key: &ThreadKey, seq: u64) -> StoreError {
    match error {
        StoreError::Unreadable { source, .. } => {
            StoreError::Unreadable { what: format!("message {seq} of {key}"), source }
        }
        other => other,
    }
}

/// Reads the name and the value in two columns.
pub(crate) fn value_of(
    key: &ThreadKey,
    row: &impl Columns,
    (name, body): (usize, usize),
) -> Result<(String, Value), StoreError> {
    let name = row.text(name)?;
    let body = row.text(body)?;
    let value = read_json(&format!("the value `{name}` of {key}"), &body)?;
    Ok((name, value))
}

/// Reads a row of [`HISTORY`](crate::store::statements::Statements).
pub(crate) fn history_row(key: &ThreadKey, row: &impl Columns) -> Result<HistoryRow, StoreError> {
    let seq = unsigned(row.int(0)?);
    let place = unsigned(row.int(1)?);
    let archived = row.int_or_null(2)?.map(unsigned);
    let body = row.text(3)?;
    let message = read_json("a message", &body).map_err(|error| named(error, key, seq))?;
    Ok(HistoryRow::new(seq, place, archived, message))
}

/// Reads a row of [`WAITING`](crate::store::statements::Statements).
pub(crate) fn waiting_row(row: &impl Columns) -> Result<Waiting, StoreError> {
    let question = Question::read(row, [0, 1, 2, 3, 4, 5], Some(6));
    question_of(question?)
}

/// Reads a row of [`THREADS`](crate::store::statements::Statements).
pub(crate) fn thread_info(row: &impl Columns) -> Result<ThreadInfo, StoreError> {
    let agent = row.text(0)?;
    let mut info = ThreadInfo::new(ThreadKey::new(agent, row.text(1)?)?);
    info.user = row.text_or_null(2)?.map(Into::into);
    info.version = unsigned(row.int(3)?);
    info.messages = unsigned(row.int(4)?);
    info.waiting = unsigned(row.int(5)?);
    info.in_call = row.int(6)? != 0;
    info.is_owned = row.int(7)? != 0;
    info.changed = unsigned(row.int(8)?);
    Ok(info)
}

/// Reads the row of [`REPORT`](crate::store::statements::Statements). An open store has the latest schema.
pub(crate) fn store_report(row: &impl Columns) -> Result<StoreReport, StoreError> {
    let number = |index| row.int(index).map(unsigned);
    let age = row.int_or_null(9)?;
    let mut report = StoreReport::default();
    report.schema = Some(unsigned(LATEST));
    report.threads = number(0)?;
    report.cut_off = number(1)?;
    report.messages = number(2)?;
    report.archived = number(3)?;
    report.values = number(4)?;
    report.unanswered = number(5)?;
    report.waiting = number(6)?;
    report.decided = number(7)?;
    report.closed = Some(number(8)?);
    report.runs = Some(number(10)?);
    report.oldest_waiting = age.map(|age| Duration::from_millis(unsigned(age)));
    Ok(report)
}
