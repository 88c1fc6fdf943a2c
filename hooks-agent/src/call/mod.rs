//! The context and the options of a call.

mod context;
mod options;
mod values;

pub use context::CallContext;
pub(crate) use context::{Resumed, Through, Unfinished};
pub use options::CallOptions;
