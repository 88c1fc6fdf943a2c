//! What a hook that runs around model calls or tool calls receives.

mod mask;
mod model;
mod tool;

pub use mask::AroundMask;
pub use model::{ModelCall, NextModel};
pub use tool::{NextTool, ToolCall};

use hooks_core::{BoxError, BoxFuture};

use crate::call::CallContext;

/// The rest of a call: the hooks further in, then the model or the tool.
pub(crate) trait Inner<Input, Output, Error>: Send + Sync {
    fn run(&self, input: Input) -> BoxFuture<'_, Result<Output, Error>>;

    /// Creates the error of a call that the hook fails, with its name.
    fn fail(&self, cause: BoxError) -> Error;

    fn context(&self) -> &CallContext;
}
