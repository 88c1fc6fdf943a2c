//! Tools from methods.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::call::tool::{Tool, ToolContext};
use crate::tool::function::FunctionTool;
use crate::tool::output::IntoToolOutput;

/// Creates a tool whose function also receives the state that it shares with other tools.
pub fn with_state<State, Input, F, Fut>(
    state: &Arc<State>,
    name: &str,
    description: &str,
    function: F,
) -> FunctionTool
where
    State: Send + Sync + 'static,
    Input: DeserializeOwned + JsonSchema,
    F: Fn(Arc<State>, Input, ToolContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoToolOutput> + Send + 'static,
{
    let state = state.clone();
    FunctionTool::with_context(name, description, move |input, cx| {
        function(state.clone(), input, cx)
    })
}

/// Shares a tool.
#[must_use]
pub fn shared(tool: FunctionTool) -> Arc<dyn Tool> {
    Arc::new(tool)
}
