//! The calls that hooks run around, and the `Next` types that run the rest of them.

mod attempt;
mod call;
mod compression;
mod mask;
mod model;
mod next_tool;
mod permission;
mod tool;

pub use attempt::{ModelAttempt, NextAttempt};
pub use call::{AgentCall, NextCall};
pub(crate) use call::{InnerCall, MapEvent};
pub use compression::{Compression, NextCompression};
pub use mask::AroundMask;
pub(crate) use model::InnerModelCall;
pub use model::{ModelCall, NextModel};
pub use next_tool::NextTool;
pub use permission::{NextPermission, PermissionCheck};
pub use tool::ToolCall;

use hooks_core::{BoxError, BoxFuture};

use crate::call::CallContext;

/// The rest of a call: the hooks further in, then what it runs around.
pub(crate) trait Inner<Input, Output, Error>: Send + Sync {
    fn run(&self, input: Input) -> BoxFuture<'_, Result<Output, Error>>;

    /// Creates the error of a call that the hook fails, with its name.
    fn fail(&self, cause: BoxError) -> Error;

    /// Returns the context of the hook.
    fn context(&self) -> &CallContext;

    /// Returns the name by which the hook asks people.
    fn asks_as(&self) -> Option<&str> {
        None
    }
}
