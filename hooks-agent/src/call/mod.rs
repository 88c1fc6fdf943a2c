//! The context and the options of a call.

mod checked;
mod context;
mod current;
mod events;
mod foreign;
mod history;
mod hook_state;
mod interrupt;
mod options;
mod owner;
mod recovered;
mod saving;
mod shutdown;
mod state;
mod sub_threads;
mod thread_values;
mod values;

pub use crate::run_id::{ParseRunIdError, RunId};
pub(crate) use checked::CheckedCall;
pub use context::CallContext;
pub(crate) use foreign::ForeignGuards;
pub use foreign::{Door, Foreign, ForeignGuard};
pub use interrupt::Interrupt;
pub use options::CallOptions;
pub(crate) use owner::HookOwner;
pub use state::HookFailure;
pub(crate) use state::{Resumed, Unfinished};
