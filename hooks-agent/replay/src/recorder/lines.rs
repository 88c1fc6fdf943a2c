//! The text of each line that a recording writes.

use hooks_agent_core::message::ToolUse;
use serde_json::{Value, json};

use crate::drift::Decided;
use crate::error::TapeError;
use crate::format::{FORMAT, Key, VERSION, line_of};
use crate::redact::Redactor;
use crate::request::Request;

/// The first line. `agent` is that of the first call.
pub(crate) fn header_line(agent: &str, redacted: &[String], secrets: Option<u32>) -> String {
    let mut header = json!({
        "agent": agent,
        "format": FORMAT,
        "redacted": redacted,
        "t": "header",
        "version": VERSION,
    });
    if let Some(secrets) = secrets {
        header["secrets"] = secrets.into();
    }
    line_of(&header)
}

/// The last line, after so many others.
pub(crate) fn close_line(lines: usize) -> String {
    line_of(&json!({ "lines": lines, "t": "close" }))
}

/// The beginning of a call. All but `run` is redacted.
pub(crate) struct CallStart<'a> {
    pub(crate) run: &'a str,
    pub(crate) agent: &'a str,
    pub(crate) thread: &'a str,
    pub(crate) parent: Option<&'a str>,
    pub(crate) tool_call: Option<&'a str>,
    pub(crate) messages: Option<Value>,
    pub(crate) confirmed: Vec<String>,
}

impl CallStart<'_> {
    pub(crate) fn line(self) -> String {
        let Self { run, agent, thread, parent, tool_call, messages, confirmed } = self;
        let mut line = json!({ "agent": agent, "run": run, "t": "call", "thread": thread });
        if let Some(messages) = messages {
            line["messages"] = messages;
        }
        if !confirmed.is_empty() {
            line["confirmed"] = confirmed.into();
        }
        if let Some(parent) = parent {
            line["parent"] = parent.into();
        }
        if let Some(tool_call) = tool_call {
            line["tool_call"] = tool_call.into();
        }
        line_of(&line)
    }
}

/// What a hook did in a call.
pub(crate) fn decision_line(run: &str, decided: &Decided) -> String {
    let Decided { hook, event, tool_call, flow, changed } = decided;
    let mut line = json!({
        "event": event,
        "flow": flow,
        "hook": hook,
        "run": run,
        "t": "decision",
    });
    if let Some(tool_call) = tool_call {
        line["tool_call"] = tool_call.as_str().into();
    }
    if !changed.is_empty() {
        line["changed"] = json!(changed);
    }
    line_of(&line)
}

/// The end of a call. The error and the reply are redacted.
pub(crate) fn end_line(
    run: &str,
    outcome: &str,
    error: Option<&str>,
    reply: Option<Value>,
) -> String {
    let mut line = json!({ "outcome": outcome, "run": run, "t": "end" });
    if let Some(error) = error {
        line["error"] = error.into();
    }
    if let Some(reply) = reply {
        line["reply"] = reply;
    }
    line_of(&line)
}

/// A call of the model, and when it was. The chunks are redacted.
pub(crate) struct Answered<'a> {
    pub(crate) run: &'a str,
    pub(crate) round: u32,
    pub(crate) attempt: u32,
    pub(crate) asked: &'a Request,
    pub(crate) provider: Option<&'a str>,
    pub(crate) chunks: Vec<Value>,
    pub(crate) ms: u64,
}

impl Answered<'_> {
    /// Returns the line. `request` is what is asked, as JSON: whole, or its difference to an earlier one.
    pub(crate) fn line(self, request: &str) -> String {
        let Self { run, round, attempt, asked, provider, chunks, ms } = self;
        let mut line = json!({
            "attempt": attempt,
            "chunks": chunks,
            "key": asked.key.to_string(),
            "model": asked.model,
            "ms": ms,
            "round": round,
            "run": run,
            "t": "model",
        });
        if let Some(provider) = provider {
            line["provider"] = provider.into();
        }
        let line = line_of(&line);
        // Keys are sorted, and those before `round` are before `request` too.
        let place = line.rfind(",\"round\":").expect("the line has a round");
        format!("{},\"request\":{request}{}", &line[..place], &line[place..])
    }
}

/// A call of a tool, and its place among those of its call.
pub(crate) struct Called<'a> {
    pub(crate) run: &'a str,
    pub(crate) n: u32,
    pub(crate) call: &'a ToolUse,
    pub(crate) ms: u64,
}

impl Called<'_> {
    /// Returns the line, redacted. `error` is the kind of the error, if the tool gave one.
    pub(crate) fn line(
        self,
        redactor: &Redactor,
        scope: &str,
        output: Value,
        error: Option<Value>,
    ) -> Result<String, TapeError> {
        let Self { run, n, call, ms } = self;
        let redact = |value| redactor.value(scope, value);
        let input = redact(call.input.clone())?;
        let id = redactor.text(scope, &call.id)?;
        let mut line = json!({
            "id": id,
            "is_error": error.is_some(),
            "key": Key::of_tool(&call.name, &input).to_string(),
            "ms": ms,
            "n": n,
            "name": call.name,
            "output": redact(output)?,
            "run": run,
            "t": "tool",
        });
        line["input"] = input;
        if let Some(error) = error {
            line["error"] = redact(error)?;
        }
        Ok(line_of(&line))
    }
}
