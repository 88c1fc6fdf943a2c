//! The tool that reads results again.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::auto_context::offload::{TOOL, id, whole_text};
use hooks_agent_core::call::CallContext;
use hooks_agent_core::message::Msg;
use hooks_agent_core::tool::{FunctionTool, Tool, ToolContext};

/// What the model asks for.
#[derive(Deserialize, JsonSchema)]
struct Range {
    /// The id of the result, as its reference says.
    id: String,
    /// The number of the first character, from 0.
    #[serde(default)]
    from: usize,
    /// The number of the character behind the last one.
    #[serde(default)]
    to: Option<usize>,
}

/// Returns the tool. At most `most` characters are read at once.
pub(super) fn reader(most: usize) -> Arc<dyn Tool> {
    let description = format!(
        "Reads a result of a tool that was shortened: the characters `from` to `to`, at most {most} at once."
    );
    let read = move |range: Range, cx: ToolContext| async move { read(cx.call(), &range, most) };
    Arc::new(FunctionTool::with_context(TOOL, description, read).idempotent())
}

fn read(cx: &CallContext, range: &Range, most: usize) -> Result<String, String> {
    let Some(text) = find(cx, &range.id) else {
        return Err(format!("there is no result of id \"{}\" in this conversation", range.id));
    };
    let count = text.chars().count();
    if range.from >= count {
        return Err(format!("the result has {count} characters, so `from` is below {count}"));
    }
    let to = range.to.unwrap_or(usize::MAX).min(count);
    if to <= range.from {
        return Err("`to` is greater than `from`".to_owned());
    }
    let to = to.min(range.from.saturating_add(most));
    let part: String = text.chars().skip(range.from).take(to - range.from).collect();
    Ok(format!("[Characters {} to {to} of {count}.]\n{part}", range.from))
}

/// Returns the text of a result of the thread.
fn find(cx: &CallContext, wanted: &str) -> Option<String> {
    let messages = cx.memory()?.messages();
    let results = messages.iter().rev().flat_map(Msg::tool_results);
    results.map(whole_text).find(|text| id(text) == wanted)
}
