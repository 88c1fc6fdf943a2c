//! Rewrites messages and results.

use std::cell::Cell;
use std::error::Error;
use std::sync::Arc;

use crate::error::TextBlocked;
use crate::hook::around::NextTool;
use crate::message::{ContentBlock, Messages, Msg, Part, Role, ToolOutput, ToolResult, ToolUse};
use crate::model::{Rewriter, TextPlace};
use crate::tool::ToolError;

/// What a hook rewrites.
#[expect(clippy::struct_excessive_bools, reason = "each place is chosen by itself")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    pub(super) input: bool,
    pub(super) output: bool,
    pub(super) tool_results: bool,
    pub(super) tool_arguments: bool,
}

impl Places {
    fn blocks(self, role: Role) -> bool {
        match role {
            Role::User => self.input,
            Role::Assistant => self.output || self.tool_arguments,
            Role::Tool => self.tool_results,
            Role::System => false,
        }
    }

    /// Rewrites the messages that a call or the model is given. Copies those that change only.
    pub(super) fn messages(
        self,
        rewriter: &Rewriter,
        messages: &mut Messages,
    ) -> Result<(), TextBlocked> {
        for index in 0..messages.len() {
            let Some(msg) = messages.get(index) else { continue };
            // Who asks for the message to change it copies it.
            let Some(copy) = self.copied(rewriter, msg)? else { continue };
            if let Some(msg) = messages.get_mut(index) {
                *msg = copy;
            }
        }
        Ok(())
    }

    /// Returns the message as it is to be, if it changes.
    pub(super) fn copied(self, rewriter: &Rewriter, msg: &Msg) -> Result<Option<Msg>, TextBlocked> {
        if !self.blocks(msg.role) {
            return Ok(None);
        }
        let mut copy = None;
        self.message(rewriter, msg, &mut copy)?;
        Ok(copy)
    }

    /// Rewrites a message; leaves `copy` empty if nothing changes.
    fn message(
        self,
        rewriter: &Rewriter,
        msg: &Msg,
        copy: &mut Option<Msg>,
    ) -> Result<(), TextBlocked> {
        for (index, block) in msg.content.iter().enumerate() {
            if !self.has_findings(rewriter, msg.role, block) {
                continue;
            }
            let copy = copy.get_or_insert_with(|| msg.clone());
            if let Some(block) = copy.content.get_mut(index) {
                self.block(rewriter, msg.role, block)?;
            }
        }
        Ok(())
    }

    fn has_findings(self, rewriter: &Rewriter, role: Role, block: &ContentBlock) -> bool {
        match block {
            ContentBlock::Text { text } => {
                (role != Role::Assistant || self.output) && rewriter.has_findings(text)
            }
            ContentBlock::Thinking { thinking, .. } => {
                self.output && rewriter.rewrites_thinking() && rewriter.has_findings(thinking)
            }
            ContentBlock::ToolUse(call) => {
                self.tool_arguments && has_findings_in_call(rewriter, call)
            }
            ContentBlock::ToolResult(result) => {
                self.tool_results && self.has_findings_in_result(rewriter, result)
            }
            _ => false,
        }
    }

    fn has_findings_in_result(self, rewriter: &Rewriter, result: &ToolResult) -> bool {
        let output = &result.output;
        let ran = result.ran.as_deref().filter(|_| self.tool_arguments);
        rewriter.has_findings(output.as_str())
            || output.blocks().iter().any(|block| match block {
                ContentBlock::Text { text } => rewriter.has_findings(text),
                _ => false,
            })
            || output.structured().is_some_and(|value| rewriter.has_findings_in(value))
            || ran.is_some_and(|call| has_findings_in_call(rewriter, call))
    }

    fn block(
        self,
        rewriter: &Rewriter,
        role: Role,
        block: &mut ContentBlock,
    ) -> Result<(), TextBlocked> {
        let of_text = if role == Role::Assistant { TextPlace::Output } else { TextPlace::Input };
        match block {
            ContentBlock::Text { text } => *text = rewritten(&rewriter.at(of_text, None), text)?,
            ContentBlock::Thinking { thinking, signature } => {
                *thinking = rewritten(&rewriter.at(TextPlace::Thinking, None), thinking)?;
                *signature = None;
            }
            ContentBlock::ToolUse(call) => rewriter.tool_use(call).map_err(blocked)?,
            ContentBlock::ToolResult(result) => self.result(rewriter, result)?,
            _ => {}
        }
        Ok(())
    }

    /// Rewrites a result, with the tool call that ran.
    pub(super) fn result(
        self,
        rewriter: &Rewriter,
        result: &mut ToolResult,
    ) -> Result<(), TextBlocked> {
        if !self.has_findings_in_result(rewriter, result) {
            return Ok(());
        }
        output(&rewriter.at(TextPlace::ToolResult, Some(&result.name)), &mut result.output)?;
        match &mut result.ran {
            Some(ran) if self.tool_arguments => {
                rewriter.tool_use(Arc::make_mut(ran)).map_err(blocked)
            }
            _ => Ok(()),
        }
    }
}

fn has_findings_in_call(rewriter: &Rewriter, call: &ToolUse) -> bool {
    let written = call.invalid_input.as_deref().unwrap_or_default();
    rewriter.has_findings_in(&call.input) || rewriter.has_findings(written)
}

/// Rewrites what a tool returned.
pub(super) fn output(rewriter: &Rewriter, output: &mut ToolOutput) -> Result<(), TextBlocked> {
    let reason = Cell::new(None);
    let or_blocked = |rewritten: Result<String, String>| {
        rewritten.unwrap_or_else(|blocked| {
            reason.set(Some(blocked));
            String::new()
        })
    };
    // A text that is the structured value is counted there.
    let json = output.structured().map(ToString::to_string);
    let of_text =
        if json.as_deref() == Some(output.as_str()) { &rewriter.quietly() } else { rewriter };
    let mut whole = None;
    output.map_fields(|key, text, part| {
        or_blocked(match part {
            Part::Text => {
                let rewritten = of_text.text(text);
                whole = rewritten.clone().ok();
                rewritten
            }
            Part::Block | Part::Value => rewriter.field(key, text),
            // All of it was asked about.
            Part::Mapped => rewriter.quietly().without_asking().text(text),
        })
    });
    // What is known of the whole alone would stay in its values.
    if let (Some(json), Some(whole)) = (&json, whole)
        && *json != whole
        && rewriter.answered(json).iter().any(|found| output.as_str().contains(found))
    {
        output.remove_structured();
        *output.text_mut() = whole;
    }
    reason.take().map_or(Ok(()), |reason| Err(blocked(reason)))
}

/// Rewrites the error of a tool: its text is all that is left of it, if that changes.
pub(super) fn tool_error(rewriter: &Rewriter, error: ToolError, next: &NextTool<'_>) -> ToolError {
    match rewritten_error(rewriter, &error) {
        None => error,
        Some(text) if error.ends_call() => next.fail(text),
        Some(text) => ToolError::Failed(text.into()),
    }
}

/// Returns the text of the error of a tool as it is to be, if it changes.
pub(super) fn rewritten_error(rewriter: &Rewriter, error: &ToolError) -> Option<String> {
    // Of one that asks, each text is noted.
    let texts = if error.is_failure() { texts(error) } else { Vec::new() };
    let found = texts.iter().filter(|text| rewriter.has_findings(text)).count();
    let blocked = |reason: String| {
        rewriter.wrote(&reason);
        reason
    };
    (found > 0).then(|| rewriter.text(&error.to_string()).unwrap_or_else(blocked))
}

/// Returns the texts of an error and its sources, and its `Debug` form.
fn texts(error: &ToolError) -> Vec<String> {
    let mut texts = vec![format!("{error:?}")];
    let mut next: Option<&dyn Error> = Some(error);
    while let Some(error) = next {
        texts.push(error.to_string());
        next = error.source();
    }
    texts
}

fn rewritten(rewriter: &Rewriter, text: &str) -> Result<String, TextBlocked> {
    rewriter.text(text).map_err(blocked)
}

fn blocked(reason: String) -> TextBlocked {
    TextBlocked { reason }
}
