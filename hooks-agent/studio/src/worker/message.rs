//! The messages that a worker writes.

use hooks_agent_core::call::RunId;
use serde::Serialize;
use serde_json::Value;

use crate::join::{Hidden, Outcome};
use crate::ring::RunSummary;

/// A message, without its entries.
#[derive(Debug, Serialize)]
pub(super) struct Message<'a> {
    pub(super) worker: RunId,
    pub(super) name: &'a str,
    pub(super) studio: Option<RunId>,
    pub(super) waits: bool,
    pub(super) leaves: bool,
    pub(super) dropped: u64,
    pub(super) runs: &'a [SentRun],
    pub(super) hidden: &'a [Hidden],
    pub(super) questions: Option<&'a Value>,
    pub(super) outcomes: &'a [Outcome],
}

/// A run, with how many entries it had before the first one of the message.
#[derive(Debug, Serialize)]
pub(super) struct SentRun {
    pub(super) run: RunSummary,
    pub(super) before: Option<u64>,
}

impl Message<'_> {
    /// Returns the message as JSON, with these entries, which are JSON with commas between them.
    pub(super) fn json(&self, entries: &[u8]) -> Vec<u8> {
        // Numbers, texts and JSON can be written.
        let mut json = serde_json::to_vec(self).unwrap_or_default();
        json.pop();
        json.extend_from_slice(b",\"entries\":[");
        json.extend_from_slice(entries);
        json.extend_from_slice(b"]}");
        json
    }
}
