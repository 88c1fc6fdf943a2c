//! Scripted models.

use hooks_agent::prelude::*;
use serde_json::Value;

/// A model that says this.
pub(crate) fn says(text: &'static str) -> ScriptedModel {
    ScriptedModel::new("script", move |_| text)
}

/// A model that calls a tool and then says this.
pub(crate) fn calls_then(tool: &'static str, input: Value, text: &'static str) -> ScriptedModel {
    ScriptedModel::new("script", move |request| -> ScriptedAnswer {
        let answered = request.messages.last().and_then(|msg| msg.tool_results().next());
        match answered {
            Some(_) => text.into(),
            None => ToolUse::new("call-1", tool, input.clone()).into(),
        }
    })
}
