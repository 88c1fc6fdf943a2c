//! The context and the options of a call.

mod context;
mod interrupt;
mod options;
mod state;
mod values;

pub use context::CallContext;
pub use options::CallOptions;
pub(crate) use state::{Resumed, Through, Unfinished};
