//! What the stores in SQL databases share: the schema, the statements, the rows, the connections.

mod columns;
mod decided;
mod failure;
mod filter;
mod number;
mod pool;
mod record;
mod refusal;
mod rows;
mod schema;
mod statements;
mod step;

pub(crate) use columns::Columns;
pub(crate) use decided::{DecidedRow, decided_rows};
#[cfg(feature = "sqlite")]
pub(crate) use failure::is_raised;
#[cfg(feature = "postgres")]
pub(crate) use failure::unavailable;
pub(crate) use failure::{describe, store_error};
pub(crate) use filter::FilterRow;
pub(crate) use number::{millis, random_id, signed, unsigned};
pub(crate) use pool::Pool;
pub(crate) use record::{
    history_row, store_report, thread_info, thread_record, value_of, waiting_row,
};
pub(crate) use refusal::{Known, refusal};
pub(crate) use rows::write_json;
pub(crate) use schema::{LATEST, MIGRATIONS};
pub(crate) use statements::statements;
pub(crate) use step::{ImportRows, StepRows};
