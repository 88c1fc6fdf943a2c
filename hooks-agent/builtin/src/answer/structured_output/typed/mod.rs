//! Calls with typed answers, and the values that they return.

mod calls;
mod partial;
mod stream;
mod text;
mod value;

pub use calls::TypedCalls;
pub use partial::Partial;
pub use stream::TypedStream;
pub use value::Typed;
