//! The context and the options of a call.

mod context;
mod current;
mod events;
mod foreign;
mod hook_state;
mod interrupt;
mod marks;
mod notes;
mod options;
mod owner;
mod recovered;
mod resumed;
mod shadow;
mod shutdown;
mod state;
pub(crate) mod stream;
mod thread;
pub(crate) mod tool;
mod values;

pub use crate::identity::User;
pub use crate::run_id::{ParseRunIdError, RunId};
pub use context::CallContext;
pub(crate) use foreign::ForeignGuards;
pub use foreign::{Door, Foreign, ForeignGuard};
pub use interrupt::Interrupt;
pub use options::{CallOptions, RunMode};
pub(crate) use owner::HookOwner;
pub(crate) use resumed::Resumed;
pub(crate) use shadow::{OwnValues, Snapshot};
pub use state::HookFailure;
pub(crate) use state::Unfinished;
