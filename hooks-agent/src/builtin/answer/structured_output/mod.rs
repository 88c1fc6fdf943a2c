//! Typed answers: the model is asked for JSON of a schema, and an answer that does not fit goes back
//! to it.

mod builder;
mod calls;
mod error;
mod extract;
mod hook;
mod partial;
mod problem;
mod provider_form;
mod schema;
mod typed;
mod typed_stream;

pub use builder::{Mode, StructuredOutputBuilder};
pub use calls::TypedCalls;
pub use error::StructuredOutputError;
pub use hook::StructuredOutput;
pub use partial::Partial;
pub use problem::Problem;
pub use typed::Typed;
pub use typed_stream::TypedStream;
