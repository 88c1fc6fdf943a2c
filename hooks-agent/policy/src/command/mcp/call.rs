//! A checked call of a tool.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use hooks_agent_core::message::{ContentBlock, ToolOutput, ToolUse};
use hooks_agent_core::tool::{Tool, ToolContext};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::command::mcp::servers::Servers;
use crate::command::mcp::template::Template;

/// The most bytes of the text of a tool.
const TEXT: usize = 1 << 20;

/// A tool that can be called, and its arguments.
#[derive(Clone)]
pub(crate) struct ToolCall {
    tool: Arc<dyn Tool>,
    arguments: Template,
}

/// Why a tool said nothing. No text has its arguments or what it said.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("there is no tokio runtime to call the tool on")]
    NoRuntime,
    #[error("{0}")]
    Arguments(String),
    #[error("the tool did not end within {0:?}")]
    TimedOut(Duration),
    #[error("the tool panicked")]
    Panicked,
    #[error("the tool failed")]
    Failed,
    #[error("the tool answered with more than {0} bytes")]
    TooLong(usize),
}

impl ToolCall {
    /// Finds the tool and checks the arguments. The error has the field that is wrong.
    pub(crate) fn new(
        servers: &Servers,
        server: &str,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Self, Vec<(&'static str, String)>> {
        let tool = servers.tool(server, tool);
        let arguments = Template::new(arguments.clone()).map_err(|why| ("input", why));
        match (tool, arguments) {
            (Ok(tool), Ok(arguments)) => Ok(Self { tool, arguments }),
            (tool, arguments) => Err(tool.err().into_iter().chain(arguments.err()).collect()),
        }
    }

    /// Calls the tool outside of any agent, within the limit, and returns its text. Dropping the future
    /// cancels the tool.
    ///
    /// # Panics
    /// If the runtime has no time.
    pub(crate) async fn run(&self, event: &Value, limit: Duration) -> Result<String, CallError> {
        Handle::try_current().map_err(|_| CallError::NoRuntime)?;
        let arguments = self.arguments.filled(event).map_err(CallError::Arguments)?;
        let context = ToolContext::detached(ToolUse::new("hook", self.tool.name(), arguments));
        let call = AssertUnwindSafe(async { self.tool.call(context).await }).catch_unwind();
        let ended = timeout(limit, call).await.map_err(|_| CallError::TimedOut(limit))?;
        let output = ended.map_err(|_| CallError::Panicked)?.map_err(|error| {
            tracing::debug!(
                target: "hooks_agent::command",
                tool = self.tool.name(), %error, "a tool of a hook failed"
            );
            CallError::Failed
        })?;
        let text = text_of(&output);
        if text.len() > TEXT { Err(CallError::TooLong(TEXT)) } else { Ok(text) }
    }
}

/// Returns all texts of an output.
fn text_of(output: &ToolOutput) -> String {
    let blocks = output.blocks().iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let texts = std::iter::once(output.as_str()).chain(blocks);
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}
