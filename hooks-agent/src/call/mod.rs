//! The context and the options of a call.

mod checked;
mod context;
mod events;
mod history;
mod hook_state;
mod interrupt;
mod options;
mod saving;
mod state;
mod thread_values;
mod values;

pub use crate::run_id::{ParseRunIdError, RunId};
pub(crate) use checked::CheckedCall;
pub use context::CallContext;
pub use interrupt::Interrupt;
pub use options::CallOptions;
pub use state::HookFailure;
pub(crate) use state::{Resumed, Unfinished};
