//! Asks for the schema in a round.

use std::fmt::Write;

use futures::StreamExt;
use hooks_core::HookResult;
use serde_json::Value;

use crate::answer::structured_output::error::StructuredOutputError;
use crate::answer::structured_output::mode::Mode;
use crate::answer::structured_output::schema::answer_schema::AnswerSchema;
use crate::answer::structured_output::schema::problem::Problem;
use crate::answer::structured_output::settings::Settings;
use hooks_agent_core::event::PreReasoning;
use hooks_agent_core::message::ToolUse;
use hooks_agent_core::model::{
    ChatChunk, ChatStream, FinishReason, ResponseFormat, ToolChoice, ToolSpec,
};

impl Settings {
    /// Asks for the schema in a round. Returns how.
    pub(super) fn ask(&self, event: &mut PreReasoning<'_>) -> HookResult<Mode> {
        let AnswerSchema { name, schema, sent, .. } = &*self.schema;
        let is_plain = event.tools().is_empty() && sent.is_strict;
        let mode = self.mode.unwrap_or(if is_plain { Mode::Format } else { Mode::Tool });
        match mode {
            Mode::Format => {
                let (name, schema) = (name.clone(), sent.schema.clone());
                event.options_mut().response_format = ResponseFormat::JsonSchema { name, schema };
            }
            Mode::Prompt => event.append_system(format!(
                "Answer with one JSON value that fits this schema, and with nothing else.\n{schema}"
            )),
            Mode::Tool => self.offer_tool(event)?,
        }
        Ok(mode)
    }

    fn offer_tool(&self, event: &mut PreReasoning<'_>) -> Result<(), StructuredOutputError> {
        let (tool, has_tools) = (&self.tool_name, !event.tools().is_empty());
        if event.tools().iter().any(|known| known.name == *tool) {
            return Err(StructuredOutputError::ToolExists { tool: tool.clone() });
        }
        let tools: Vec<_> = event.tools().iter().cloned().chain([self.tool()]).collect();
        event.set_tools(tools);
        let choice = &mut event.options_mut().tool_choice;
        match choice {
            // Chosen for this round, by the agent or a hook.
            ToolChoice::Tool(_) => {}
            ToolChoice::Auto | ToolChoice::Required if has_tools => *choice = ToolChoice::Required,
            _ => *choice = ToolChoice::Tool(tool.clone()),
        }
        Ok(())
    }

    /// Returns the tool that takes the answer.
    pub(super) fn tool(&self) -> ToolSpec {
        let AnswerSchema { name, schema, sent, .. } = &*self.schema;
        let text = "Takes your final answer. Call it once, when you know the whole answer.";
        let description = match schema.get("description").and_then(Value::as_str) {
            Some(about) => format!("{text} The answer is a `{name}`: {about}"),
            None => format!("{text} The answer is a `{name}`."),
        };
        ToolSpec::new(self.tool_name.clone(), description, sent.schema.clone())
    }

    /// Returns what the model reads of an answer that does not fit.
    pub(super) fn correction(&self, problems: &[Problem], by_tool: bool) -> String {
        let mut text = format!("Your answer does not fit `{}`:\n", self.schema.name);
        for problem in problems {
            // Writing to a string does not fail.
            let _ = writeln!(text, "- {problem}");
        }
        let _ = if by_tool {
            write!(text, "Call `{}` again, with the whole value.", self.tool_name)
        } else {
            write!(text, "Answer again, with the whole JSON value and nothing else.")
        };
        text
    }
}

// Input: a call of `final_answer` with `{"total": 12}`
// Output: the text `{"total": 12}`
/// Turns the calls of the tool that takes the answer into text.
pub(super) fn answer_as_text(chunks: ChatStream, tool: String) -> ChatStream {
    let mut has_others = false;
    Box::pin(chunks.map(move |chunk| match chunk {
        Ok(ChatChunk::ToolUse(call)) if call.name == tool => Ok(ChatChunk::Text(json_of(call))),
        Ok(ChatChunk::ToolUse(call)) => {
            has_others = true;
            Ok(ChatChunk::ToolUse(call))
        }
        Ok(ChatChunk::End { usage, finish: FinishReason::ToolCalls }) if !has_others => {
            Ok(ChatChunk::End { usage, finish: FinishReason::Stop })
        }
        other => other,
    }))
}

/// Returns the arguments as text, apart from words before them.
fn json_of(call: ToolUse) -> String {
    let json = call.invalid_input.unwrap_or_else(|| call.input.to_string());
    format!("\n{json}")
}
