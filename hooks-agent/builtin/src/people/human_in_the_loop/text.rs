//! The texts that people read.

use hooks_agent_core::message::{ToolUse, Wording};

/// The first line of a question in the words of `LangChain`.
pub(super) const PREFIX: &str = "Tool execution requires approval";

/// Returns the default text of a question. `about` is what the program says of the tool.
pub(super) fn text(wording: Wording, prefix: &str, about: Option<&str>, call: &ToolUse) -> String {
    let ToolUse { name, input, .. } = call;
    match (wording, about) {
        (Wording::Spring, about) => {
            let about = about.map(|about| format!("Description: {about}\n")).unwrap_or_default();
            format!(
                "The AI is requesting to use the tool: {name}.\n{about}With the following arguments: \
                 {input}\nDo you approve?"
            )
        }
        (_, Some(about)) => about.to_owned(),
        (_, None) => format!("{prefix}\n\nTool: {name}\nArgs: {input}"),
    }
}
