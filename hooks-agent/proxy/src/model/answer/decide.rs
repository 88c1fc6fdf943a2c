//! Decides about tool calls of an answer, and about results of tools that the provider ran.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::model::answer::piece::{Fate, Held, HeldKind};
use crate::model::answer::responses::unanswered;
use crate::model::guarded::{Call, CallVerdict, Refused, ResultVerdict, Session};

/// Fields in which a result has what no hook can read.
const UNREADABLE: [&str; 9] = [
    "encrypted_content",
    "encrypted_stdout",
    "encrypted_index",
    "file_id",
    "file_ids",
    "b64_json",
    "image_url",
    "data",
    "partial_image_b64",
];

/// Decides about the tool calls of an answer.
pub(crate) struct Decisions {
    session: Session,
    /// Whether there are hooks for results.
    screens_results: bool,
    /// The calls of the provider that were denied.
    denied: HashSet<String>,
    /// The calls of the provider that were not.
    ran: HashMap<String, Call>,
    has_calls: bool,
    /// What answers the calls of the agent that were denied, where the provider waits for it.
    unanswered: Vec<Value>,
}

impl Decisions {
    pub(crate) fn new(session: Session) -> Self {
        let screens_results = session.guard.screens_results(&session.input("PostToolUse"));
        Self {
            session,
            screens_results,
            denied: HashSet::new(),
            ran: HashMap::new(),
            has_calls: false,
            unanswered: Vec::new(),
        }
    }

    /// Decides about a tool call or its result.
    pub(crate) async fn fate(&mut self, held: &Held) -> Fate {
        let call = &held.call;
        if held.kind == HeldKind::Result && self.denied.contains(&call.id) {
            return Fate::Dropped;
        }
        if held.kind != HeldKind::Result {
            match self.session.call(call).await {
                CallVerdict::Passes => {}
                CallVerdict::Denied(reason) => {
                    self.denied.insert(call.id.clone());
                    let reason = reason.trim();
                    let reason = if reason.is_empty() { "a hook denies it" } else { reason };
                    let reason = format!("[tool call `{}` denied: {reason}]", call.name);
                    self.unanswered.extend(unanswered(held, &reason));
                    return Fate::Denied(reason);
                }
                CallVerdict::Rewritten(input) if held.kind == HeldKind::Agent => {
                    self.has_calls = true;
                    return Fate::Rewritten(input);
                }
                // It has run with what a hook would have changed.
                CallVerdict::Rewritten(_) => {
                    self.denied.insert(call.id.clone());
                    let name = &call.name;
                    return Fate::Denied(format!(
                        "[tool call `{name}` withheld: a hook changes it]"
                    ));
                }
            }
            match held.kind {
                HeldKind::Agent => self.has_calls = true,
                _ => drop(self.ran.insert(call.id.clone(), call.clone())),
            }
        }
        match &held.result {
            Some(result) if self.screens_results => self.of_result(held, result).await,
            _ => Fate::Passes,
        }
    }

    async fn of_result(&self, held: &Held, result: &Value) -> Fate {
        if has_unreadable(result) {
            let reason = "no hook can read the result of this tool";
            return Fate::Denied(format!("[withheld: {reason}]"));
        }
        let call = self.ran.get(&held.call.id).unwrap_or(&held.call);
        match self.session.result(call, result.clone()).await {
            ResultVerdict::Passes => Fate::Passes,
            ResultVerdict::Replaced(value) if is_alike(result, &value) => Fate::Replaced(value),
            ResultVerdict::Replaced(Value::String(text)) | ResultVerdict::Withheld(text) => {
                Fate::Denied(text)
            }
            ResultVerdict::Replaced(value) => Fate::Denied(value.to_string()),
        }
    }

    /// Returns what answers the calls of the agent that were denied.
    pub(crate) fn unanswered(&self) -> Vec<Value> {
        self.unanswered.clone()
    }

    /// Notes the end of the answer.
    pub(crate) async fn end(&self) -> Result<(), Refused> {
        self.session.ended(self.has_calls).await
    }

    pub(crate) const fn session(&self) -> &Session {
        &self.session
    }
}

/// Returns whether a result has something that no hook can read.
fn has_unreadable(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_unreadable),
        Value::Object(fields) => fields.iter().any(|(name, field)| {
            UNREADABLE.contains(&name.as_str()) && !field.is_null() || has_unreadable(field)
        }),
        _ => false,
    }
}

/// Returns whether both are JSON of one type.
fn is_alike(before: &Value, after: &Value) -> bool {
    std::mem::discriminant(before) == std::mem::discriminant(after)
}
