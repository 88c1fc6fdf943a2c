//! A step as rows.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use hooks_agent_core::message::Msg;
use hooks_agent_core::store::{CallRecord, CallState, Step, StoreError, check_name};
use serde::Serialize;

use crate::database::{millis, signed};
use crate::store::rows::json::write_json;

/// The version of the JSON of a message.
const MESSAGE_VERSION: u64 = 1;

/// What a step writes, as the columns of its rows.
#[derive(Debug, Default, Hash)]
pub(crate) struct StepRows {
    /// The sequence number of the next message, by the messages of the step.
    pub(crate) next: i64,
    pub(crate) state: String,
    pub(crate) archived: Vec<i64>,
    /// Sequence numbers, places, bodies.
    pub(crate) messages: Vec<(i64, i64, String)>,
    pub(crate) removed: Vec<String>,
    /// Names, bodies.
    pub(crate) values: Vec<(String, String)>,
    /// Keys, states, whether they are live, bodies.
    pub(crate) calls: Vec<(String, i64, i64, String)>,
    /// Ids, bodies, times to expire.
    pub(crate) asked: Vec<(String, String, Option<i64>)>,
    pub(crate) closed: Vec<String>,
}

impl StepRows {
    pub(crate) fn of(step: &Step) -> Result<Self, StoreError> {
        if let Some(user) = &step.user {
            check_name("id of the user", user)?;
        }
        check_numbers(step)?;
        let mut rows = Self {
            next: step.messages.iter().map(|it| signed(it.seq) + 1).max().unwrap_or_default(),
            state: write_json(&step.state)?,
            archived: step.archived.iter().copied().map(signed).collect(),
            closed: step.closed.iter().map(ToString::to_string).collect(),
            ..Self::default()
        };
        for message in &step.messages {
            let body = message_body(&message.msg)?;
            rows.messages.push((signed(message.seq), signed(message.place), body));
        }
        // The last one of a name wins, as if they were written one after the other.
        let values: BTreeMap<_, _> = step.values.iter().map(|(name, body)| (name, body)).collect();
        for (name, body) in values {
            check_name("name of the value", name)?;
            match body {
                None => rows.removed.push(name.clone()),
                Some(body) => rows.values.push((name.clone(), write_json(body)?)),
            }
        }
        let calls: BTreeMap<_, _> = step.calls.iter().map(|call| (&call.key, call)).collect();
        for call in calls.into_values() {
            rows.calls.push(call_row(call)?);
        }
        for question in &step.asked {
            let expires = question.expires_after.map(millis);
            rows.asked.push((question.id.to_string(), write_json(question)?, expires));
        }
        Ok(rows)
    }

    /// Returns a hash by which the process knows the step again, if it must write it twice because the
    /// first answer was lost.
    pub(crate) fn digest(&self, step: &Step) -> i64 {
        let mut hash = DefaultHasher::new();
        (self, step.version, step.in_call, step.releases, &step.user).hash(&mut hash);
        step.reservations.hash(&mut hash);
        i64::from_ne_bytes(hash.finish().to_ne_bytes())
    }
}

/// Checks that each number of a step has a next one in the database.
fn check_numbers(step: &Step) -> Result<(), StoreError> {
    let messages = step.messages.iter().flat_map(|message| [message.seq, message.place]);
    if messages.chain([step.version]).any(|number| signed(number) == i64::MAX) {
        return Err(StoreError::Failed("a number of the step is too large".into()));
    }
    Ok(())
}

/// A database has no NUL in a text: the key is the one in the body, with a picture of it.
fn call_row(call: &CallRecord) -> Result<(String, i64, i64, String), StoreError> {
    let key = call.key.replace('\0', "\u{2400}");
    let is_live = call.state != CallState::Answered || call.held.is_some();
    Ok((key, state_code(call.state), i64::from(is_live), write_json(call)?))
}

#[derive(Serialize)]
struct Versioned<'a> {
    v: u64,
    #[serde(flatten)]
    msg: &'a Msg,
}

/// Returns the JSON of a message.
fn message_body(msg: &Msg) -> Result<String, StoreError> {
    write_json(&Versioned { v: MESSAGE_VERSION, msg })
}

/// Returns the number of a state in the database.
fn state_code(state: CallState) -> i64 {
    match state {
        CallState::Open => 0,
        CallState::Started => 1,
        CallState::Answered => 2,
    }
}
