//! An attempt to have an answer of a model.

use std::sync::Arc;

use hooks_agent_core::message::Usage;
use serde::Serialize;

use crate::entry::failure::Failure;
use crate::prices::Money;

/// What happened with an attempt. The kind of its entry says whether it began, said its first, ended or failed.
#[derive(Debug, Serialize)]
pub(crate) struct Attempt {
    /// Its number in the round, from 1 on.
    pub(crate) attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provider: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<Money>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<Failure>,
}
