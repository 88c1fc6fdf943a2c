//! What the stores in SQL databases share: the schema, the statements, the rows, the connections.

mod cause;
mod columns;
mod decided;
mod failure;
mod filtered;
mod limit;
mod number;
mod place;
mod pool;
mod record;
mod refusal;
#[cfg(feature = "postgres")]
mod retry;
mod rows;
mod schema;
mod statements;
mod step;

pub(crate) use columns::Columns;
pub(crate) use decided::{DecidedRow, decided_rows};
#[cfg(feature = "sqlite")]
pub(crate) use failure::is_raised;
pub(crate) use failure::store_error;
#[cfg(feature = "postgres")]
pub(crate) use failure::unavailable;
pub(crate) use filtered::{Filtered, Filters, Param, filtered};
pub(crate) use limit::Limit;
pub(crate) use number::{millis, random_id, signed, unsigned};
pub(crate) use place::Place;
pub(crate) use pool::{Pool, PoolOptions};
pub(crate) use record::{
    history_row, store_report, thread_info, thread_record, value_of, waiting_row,
};
pub(crate) use refusal::{Known, refusal};
#[cfg(feature = "postgres")]
pub(crate) use retry::{again, named};
pub(crate) use rows::write_json;
pub(crate) use schema::{LATEST, MIGRATIONS};
pub(crate) use statements::statements;
pub(crate) use step::{ImportRows, StepRows};
