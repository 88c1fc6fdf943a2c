//! Typed answers: the model is asked for JSON of a schema, and an answer that does not fit goes back
//! to it.

mod ask;
mod builder;
mod error;
mod failures;
mod hook;
mod mode;
mod schema;
mod settings;
mod typed;

pub use builder::StructuredOutputBuilder;
pub use error::StructuredOutputError;
pub use hook::StructuredOutput;
pub use mode::Mode;
pub use schema::problem::Problem;
pub use typed::{Partial, Typed, TypedCalls, TypedStream};
