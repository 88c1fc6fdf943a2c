//! Rows of a store, and the records of the core that they hold.

mod approval;
mod decided;
mod filters;
mod import;
mod json;
mod question;
mod record;
mod refusal;
mod step;

pub(crate) use approval::{approval_of, scope_of, scopes_of};
pub(crate) use decided::{DecidedRow, decided_rows};
pub(crate) use filters::Filters;
pub(crate) use import::ImportRows;
pub(crate) use json::{read_json, write_json};
pub(crate) use record::{
    history_row, store_report, thread_info, thread_record, value_of, waiting_row,
};
pub(crate) use refusal::{Known, refusal};
pub(crate) use step::StepRows;
