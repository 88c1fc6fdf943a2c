//! Typed answers: the model is asked for JSON of a schema, and an answer that does not fit goes back
//! to it.

mod ask;
mod builder;
mod error;
mod failures;
mod hook;
mod schema;
mod typed;

pub use builder::{Mode, StructuredOutputBuilder};
pub use error::StructuredOutputError;
pub use hook::StructuredOutput;
pub use schema::problem::Problem;
pub use typed::{Partial, Typed, TypedCalls, TypedStream};
