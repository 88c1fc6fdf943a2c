//! Rows as they are in a database.

use std::sync::Arc;

use hooks_agent_core::store::{CallState, Decided, StoreError, Waiting};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::message::Msg;
use crate::store::sql::columns::Columns;
use crate::store::sql::number::unsigned;

/// The version of the JSON of a message.
const MESSAGE_VERSION: u64 = 1;

/// How deep JSON is nested at most: what is nested deeper cannot be read, also as a part of an export.
const DEEPEST: usize = 120;

#[derive(serde::Serialize)]
struct Versioned<'a> {
    v: u64,
    #[serde(flatten)]
    msg: &'a Msg,
}

/// Returns the JSON of a message.
pub(crate) fn message_body(msg: &Msg) -> Result<String, StoreError> {
    write_json(&Versioned { v: MESSAGE_VERSION, msg })
}

/// Reads the JSON of a message. Fields that this program does not know are ignored.
pub(crate) fn message_of(body: &str) -> Result<Arc<Msg>, StoreError> {
    read_json("a message", body)
}

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
    ) -> Result<Self, sqlx::Error> {
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

/// Returns the JSON of a question, without what has a column of its own.
pub(crate) fn question_body(waiting: &Waiting) -> Result<String, StoreError> {
    write_json(waiting)
}

/// Reads a question. Its columns win over its JSON.
pub(crate) fn question_of(row: Question) -> Result<Waiting, StoreError> {
    let mut waiting: Waiting = read_json("a question", &row.body)?;
    waiting.since = unsigned(row.since);
    waiting.expires = row.expires.map(unsigned);
    waiting.is_closed = row.closed != 0;
    waiting.decided = match row.decision {
        None => None,
        Some(decision) => Some(Decided::new(
            read_json("a decision", &decision)?,
            row.decided_by.map(Into::into),
            row.decided_at.map_or(0, unsigned),
        )),
    };
    Ok(waiting)
}

/// Returns the number of a state in the database.
pub(crate) fn state_code(state: CallState) -> i64 {
    match state {
        CallState::Open => 0,
        CallState::Started => 1,
        CallState::Answered => 2,
    }
}

/// Where JSON is not what was expected. The text of the error is left out, for it quotes what is there.
#[derive(Debug, thiserror::Error)]
#[error("the JSON is not what is expected at line {line}, column {column}")]
struct Misread {
    line: usize,
    column: usize,
}

/// Reads JSON of the database.
pub(crate) fn read_json<T: DeserializeOwned>(what: &str, json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|error| {
        let source = Misread { line: error.line(), column: error.column() };
        StoreError::Unreadable { what: what.to_owned(), source: source.into() }
    })
}

/// Writes JSON for the database.
pub(crate) fn write_json(value: &impl Serialize) -> Result<String, StoreError> {
    let json = serde_json::to_string(value).map_err(|error| StoreError::Failed(error.into()))?;
    if depth(&json) > DEEPEST {
        return Err(StoreError::TooDeep { limit: DEEPEST });
    }
    Ok(json)
}

/// Returns how deep the arrays and objects of a JSON text are nested.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut is_text, mut is_escaped) = (0_usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
