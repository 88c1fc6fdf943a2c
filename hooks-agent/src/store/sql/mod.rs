//! What the stores in SQL databases share: the schema and the rows.

mod rows;
mod schema;

pub(crate) use rows::{
    Question, message_body, message_of, question_body, question_of, read_json, state_code,
    state_of, write_json,
};
pub(crate) use schema::{LATEST, MIGRATIONS, Migration};
