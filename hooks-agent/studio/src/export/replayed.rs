//! A test that replays a run: the model says what it said, the tools answer what they answered.

use std::fmt::Write;

use hooks_agent_core::message::{ContentBlock, Msg, Role, ToolResult, ToolUse};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::entry::{Packed, RunHead};
use crate::export::code::{identifier, json, text};
use crate::ring::Written;

/// Why a run cannot be replayed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum NotReplayed {
    #[error("some of its content is not kept: it is hidden, too long, or was dropped")]
    Hidden,
    #[error("it goes on with a run before it, or has no message of a user")]
    NoInput,
    #[error("it has not ended")]
    Runs,
}

/// What a run did, as far as a test replays it.
#[derive(Default)]
struct Played {
    input: Vec<Msg>,
    turns: Vec<Turn>,
    calls: Vec<ToolUse>,
    results: Vec<ToolResult>,
    reply: Option<Msg>,
    has_ended: bool,
}

#[derive(Deserialize)]
struct Input {
    messages: Vec<Msg>,
}

#[derive(Deserialize)]
struct Failed {
    status: Option<u16>,
}

enum Turn {
    Said(Msg),
    Failed(Option<u16>),
}

/// Returns the code of a test.
pub(crate) fn test_of(head: &RunHead, entries: &Written) -> Result<String, NotReplayed> {
    let played = Played::read(entries)?;
    if !played.has_ended {
        return Err(NotReplayed::Runs);
    }
    let [input] = played.input.as_slice() else { return Err(NotReplayed::NoInput) };
    if input.role != Role::User || input.text().is_empty() {
        return Err(NotReplayed::NoInput);
    }
    Ok(played.code(head, &input.text()))
}

impl Played {
    fn read(entries: &Written) -> Result<Self, NotReplayed> {
        let mut played = Self::default();
        let mut failed = None;
        for (label, data) in entries.after(0) {
            match label.kind {
                "input" => played.input = whole::<Input>(data)?.messages,
                "reasoned" | "summarized" => {
                    failed = None;
                    played.turns.push(Turn::Said(whole(data)?));
                }
                "finished" => played.reply = Some(whole(data)?),
                "model_failed" => failed = Some(Turn::Failed(whole::<Failed>(data)?.status)),
                "tool_started" => played.calls.push(whole(data)?),
                "tool_finished" => played.results.push(whole(data)?),
                "settled" => played.has_ended = true,
                _ => {}
            }
        }
        played.turns.extend(failed);
        Ok(played)
    }

    /// The names of the tools that ran, in the order of their first calls.
    fn tools(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for call in &self.calls {
            if !names.contains(&&*call.name) {
                names.push(&call.name);
            }
        }
        names
    }

    fn code(&self, head: &RunHead, input: &str) -> String {
        let mut code = String::new();
        // Writing to a text does not fail.
        let _ = self.write(head, input, &mut code);
        code
    }

    fn write(&self, head: &RunHead, input: &str, code: &mut String) -> std::fmt::Result {
        let tools = self.tools();
        self.write_imports(!tools.is_empty(), code)?;
        let short = &head.run.to_string()[..8];
        writeln!(code, "#[tokio::test]\nasync fn run_{short}_is_replayed() {{")?;
        let turns: Vec<_> = self.turns.iter().map(Turn::code).collect();
        chain(code, "    let script = Script::new()", &turns)?;
        for name in &tools {
            let begin = format!("    let {} = Calls::new({})", identifier(name), text(name));
            chain(code, &begin, &self.answers_of(name))?;
        }
        writeln!(code, "    let rounds = [EventKind::PreReasoning, EventKind::PostReasoning];")?;
        writeln!(code, "    let recorder = Recorder::new().only(EventMask::of(&rounds));")?;
        writeln!(code, "    let agent = ReActAgent::builder({})", text(&head.agent))?;
        writeln!(code, "        .model(script.clone())")?;
        for name in &tools {
            writeln!(code, "        .tool({}.clone())", identifier(name))?;
        }
        writeln!(code, "        // Here are the hooks that you test.")?;
        writeln!(code, "        .hook(recorder.clone())\n        .build()\n        .unwrap();\n")?;
        writeln!(code, "    let reply = agent.call({}).await;\n", text(input))?;
        match &self.reply {
            Some(reply) => {
                writeln!(code, "    assert_eq!(reply.unwrap().text(), {});", text(&reply.text()))?;
            }
            None => writeln!(code, "    reply.unwrap_err();")?,
        }
        for name in &tools {
            let inputs: Vec<_> =
                self.calls_of(name).map(|call| format!("json!({})", json(&call.input))).collect();
            let name = identifier(name);
            writeln!(code, "    {name}.assert_called_with([{}]);", inputs.join(", "))?;
        }
        let order = self.turns.iter().flat_map(|turn| match turn {
            Turn::Said(_) => &["\"PRE_REASONING\"", "\"POST_REASONING\""][..],
            Turn::Failed(_) => &["\"PRE_REASONING\""][..],
        });
        let order: Vec<_> = order.copied().collect();
        writeln!(code, "    recorder.assert_order([{}]);", order.join(", "))?;
        writeln!(code, "    script.finish();\n}}")
    }

    fn write_imports(&self, has_tools: bool, code: &mut String) -> std::fmt::Result {
        writeln!(code, "//! Replays a run of an agent.\n")?;
        if self.turns.iter().any(|turn| matches!(turn, Turn::Failed(_))) {
            writeln!(code, "use hooks_agent::model::ModelError;")?;
        }
        writeln!(code, "use hooks_agent::prelude::*;")?;
        let calls = if has_tools { "Calls, " } else { "" };
        writeln!(code, "use hooks_agent::testing::{{{calls}Recorder, Script}};")?;
        let said = self.turns.iter().filter_map(|turn| match turn {
            Turn::Said(message) => Some(message),
            Turn::Failed(_) => None,
        });
        if has_tools || said.flat_map(Msg::tool_uses).next().is_some() {
            writeln!(code, "use serde_json::json;")?;
        }
        writeln!(code)
    }

    fn calls_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a ToolUse> {
        self.calls.iter().filter(move |call| call.name == name)
    }

    /// What a tool answered to each of its calls.
    fn answers_of(&self, name: &str) -> Vec<String> {
        let result_of = |call: &ToolUse| {
            let result = self.results.iter().find(|result| result.id == call.id)?;
            let method = if result.is_error { "fails" } else { "answers" };
            Some(format!(".{method}({})", text(result.output.as_str())))
        };
        self.calls_of(name).filter_map(result_of).collect()
    }
}

/// Writes calls of methods, one below the other.
fn chain(code: &mut String, begin: &str, calls: &[String]) -> std::fmt::Result {
    write!(code, "{begin}")?;
    for call in calls {
        write!(code, "\n        {call}")?;
    }
    writeln!(code, ";")
}

impl Turn {
    fn code(&self) -> String {
        let message = match self {
            Self::Failed(status) => {
                let status = status.unwrap_or(500);
                return format!(".fails(ModelError::status(\"model\", {status}))");
            }
            Self::Said(message) => message,
        };
        let calls: Vec<_> = message.tool_uses().map(call_code).collect();
        let texts: Vec<_> = message.content.iter().filter_map(block_code).collect();
        match (texts.as_slice(), calls.as_slice()) {
            ([], calls) => format!(".calls([{}])", calls.join(", ")),
            (_, []) => format!(".says({})", text(&message.text())),
            (texts, calls) => {
                let calls = calls.iter().map(|call| format!("ContentBlock::ToolUse({call})"));
                let blocks: Vec<_> = texts.iter().cloned().chain(calls).collect();
                format!(".turn(vec![{}])", blocks.join(", "))
            }
        }
    }
}

fn call_code(call: &ToolUse) -> String {
    let ToolUse { id, name, input, .. } = call;
    format!("ToolUse::new({}, {}, json!({}))", text(id), text(name), json(input))
}

/// Returns a text of an answer; thoughts are left out.
fn block_code(block: &ContentBlock) -> Option<String> {
    match block {
        ContentBlock::Text { text: said } => Some(format!("ContentBlock::text({})", text(said))),
        _ => None,
    }
}

fn whole<T: DeserializeOwned>(data: Packed<'_>) -> Result<T, NotReplayed> {
    data.read().ok_or(NotReplayed::Hidden)
}
