//! The schema of an answer: how it is sent, how an answer is found in a text, and what does not fit.

pub(super) mod answer_schema;
pub(super) mod extract;
mod fence;
pub(super) mod problem;
mod provider_form;
