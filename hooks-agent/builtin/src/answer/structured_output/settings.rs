//! The settings of typed answers.

use std::sync::Arc;

use crate::answer::structured_output::failures::FailureCount;
use crate::answer::structured_output::mode::Mode;
use crate::answer::structured_output::schema::answer_schema::AnswerSchema;

/// What the builder sets.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) schema: Arc<AnswerSchema>,
    pub(super) mode: Option<Mode>,
    pub(super) retries: u32,
    pub(super) tool_name: String,
    pub(super) failures: FailureCount,
}
