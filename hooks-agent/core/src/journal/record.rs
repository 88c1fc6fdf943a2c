//! Records of steps, as JSON.

use std::sync::Arc;

use futures::stream;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::ErrorReport;
use crate::error::journal::JournalError;
use crate::journal::key::StepKey;
use crate::message::{GenerateReason, Messages, Msg, ToolResult, ToolUse};
use crate::model::{ChatChunk, ModelAnswer};
use crate::usage::Usage;

/// The version of the records that this module writes.
const VERSION: u64 = 1;

/// What a step came to: JSON of this library's own, with a version. A journal keeps it as it is.
///
/// An object with the version `v`, and `model`, `tool`, `compression` or `error`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepRecord(Value);

/// The answer of a model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ModelRecord {
    pub(crate) name: String,
    pub(crate) provider: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<GenerateReason>,
    pub(crate) chunks: Vec<ChatChunk>,
}

/// What a step came to.
pub(crate) enum Read<T> {
    Came(T),
    Failed {
        report: ErrorReport,
        /// The tool call that ran.
        ran: Option<Arc<ToolUse>>,
    },
}

impl StepRecord {
    /// Returns whether the step failed with an error that is
    /// [transient](crate::error::AgentError::is_transient).
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.0["error"]["is_transient"] == true
    }

    pub(crate) fn of_model(record: &ModelRecord) -> Result<Self, JournalError> {
        Self::of("model", record)
    }

    /// Creates the record of a tool call; `has_run` says whether the tool ran, and not a hook answered.
    pub(crate) fn of_tool(result: &ToolResult, has_run: bool) -> Result<Self, JournalError> {
        let mut record = Self::of("tool", result)?;
        if !has_run {
            record.0["answered"] = Value::Bool(true);
        }
        Ok(record)
    }

    pub(crate) fn of_compression(messages: &Messages) -> Result<Self, JournalError> {
        Self::of("compression", messages)
    }

    pub(crate) fn of_error(
        report: &ErrorReport,
        ran: Option<&Arc<ToolUse>>,
    ) -> Result<Self, JournalError> {
        let mut record = Self::of("error", report)?;
        if let Some(ran) = ran {
            let ran = ToolUse::clone(ran).without_hidden();
            record.0["ran"] = serde_json::to_value(ran).map_err(unwritten)?;
        }
        Ok(record)
    }

    fn of(kind: &str, value: &impl Serialize) -> Result<Self, JournalError> {
        let value = serde_json::to_value(value).map_err(unwritten)?;
        Ok(Self(json!({ "v": VERSION, kind: value })))
    }

    pub(crate) fn read_model(self, key: &StepKey) -> Result<Read<ModelRecord>, JournalError> {
        self.read("model", key)
    }

    /// Returns what a tool call came to, and whether the tool ran.
    pub(crate) fn read_tool(self, key: &StepKey) -> Result<(Read<ToolResult>, bool), JournalError> {
        let is_answered = self.0["answered"] == true;
        let read = self.read("tool", key)?;
        let has_run = match &read {
            Read::Came(_) => !is_answered,
            Read::Failed { ran, .. } => ran.is_some(),
        };
        Ok((read, has_run))
    }

    pub(crate) fn read_compression(self, key: &StepKey) -> Result<Read<Vec<Msg>>, JournalError> {
        self.read("compression", key)
    }

    fn read<T: DeserializeOwned>(
        mut self,
        kind: &str,
        key: &StepKey,
    ) -> Result<Read<T>, JournalError> {
        let unreadable = |reason: String| JournalError::Unreadable { key: key.to_string(), reason };
        match self.0["v"].as_u64() {
            Some(VERSION) => {}
            Some(found) if found > VERSION => {
                let what = format!("the record of `{key}`");
                return Err(JournalError::Version { what, found, known: VERSION });
            }
            _ => return Err(unreadable("it has no version".to_owned())),
        }
        let mut take = |name: &str| self.0.get_mut(name).map(Value::take);
        // The error of the JSON may quote content.
        let unknown = |field: &str| unreadable(format!("`{field}` is not what this program knows"));
        if let Some(report) = take("error") {
            let report = serde_json::from_value(report).map_err(|_| unknown("error"))?;
            let ran = take("ran").map(serde_json::from_value).transpose();
            return Ok(Read::Failed { report, ran: ran.map_err(|_| unknown("ran"))? });
        }
        let value = take(kind).ok_or_else(|| unreadable(format!("it has no field `{kind}`")))?;
        Ok(Read::Came(serde_json::from_value(value).map_err(|_| unknown(kind))?))
    }
}

fn unwritten(error: serde_json::Error) -> JournalError {
    JournalError::Failed(error.into())
}

impl ModelRecord {
    /// Adds a chunk. Texts that follow each other become one.
    pub(crate) fn add(&mut self, chunk: &ChatChunk) {
        match (self.chunks.last_mut(), chunk) {
            (Some(ChatChunk::Text(text)), ChatChunk::Text(more))
            | (Some(ChatChunk::Thinking(text)), ChatChunk::Thinking(more)) => text.push_str(more),
            _ => self.chunks.push(chunk.clone()),
        }
    }

    /// Returns the record of an answer without content, for a step that failed.
    pub(crate) fn nothing() -> Self {
        Self { chunks: vec![ChatChunk::end(Usage::default())], ..Self::default() }
    }

    /// Returns the answer again.
    pub(crate) fn into_answer(self) -> ModelAnswer {
        let Self { name, provider, reason, chunks } = self;
        let stream = Box::pin(stream::iter(chunks.into_iter().map(Ok)));
        ModelAnswer::recorded(name, provider, reason, stream)
    }
}
