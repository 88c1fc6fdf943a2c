//! The end of a run.

use hooks_agent_core::message::GenerateReason;
use serde::Serialize;

/// How a run ended.
#[derive(Debug, Serialize)]
pub(crate) struct Ended {
    pub(crate) outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<GenerateReason>,
}
