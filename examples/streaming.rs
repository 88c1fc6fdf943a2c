//! A call as a stream: text as it comes, progress of a tool, and a rewriter that holds back what
//! must not be shown, wherever the model cuts its text.
//!
//! `cargo run --example streaming`

use std::io::Write;

use futures::StreamExt;
use hooks_agent::hook::Rewrite;
use hooks_agent::message::Usage;
use hooks_agent::model::ChatChunk;
use hooks_agent::model::Finding;
use hooks_agent::prelude::*;
use serde_json::{Value, json};

/// Says a card number in pieces, none of which is one.
fn careless(request: &ChatRequest) -> ScriptedAnswer {
    if request.messages.iter().all(|msg| msg.tool_results().next().is_none()) {
        return ToolUse::new("1", "lookup", json!({})).into();
    }
    let pieces = ["Your card ", "is 4532", "0151", "1283", "0366, ", "and it is ", "paid."];
    let pieces = pieces.map(|piece| Ok(ChatChunk::Text(piece.to_owned())));
    let usage = Usage::new(12, 9);
    ScriptedAnswer::Stream(pieces.into()).costing(usage)
}

/// Finds runs of digits; those of sixteen are card numbers.
fn card_number(text: &str, from: usize) -> Option<Finding> {
    let mut start = from;
    while let Some(begin) = text[start..].find(|char: char| char.is_ascii_digit()) {
        let begin = start + begin;
        let rest = &text[begin..];
        let end = begin + rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
        if end - begin == 16 {
            return Some(Finding::Replace { range: begin..end, text: "[card]".to_owned() });
        }
        start = end;
    }
    None
}

#[tokio::main]
async fn main() -> Result<(), AgentError> {
    let lookup = FunctionTool::with_context(
        "lookup",
        "Looks the customer up.",
        async |_: Value, cx: ToolContext| {
            for step in ["connecting", "searching", "found"] {
                cx.progress(step);
                tokio::task::yield_now().await;
            }
            "customer 7"
        },
    );
    let agent = ReActAgent::builder("clerk")
        .model(ScriptedModel::new("careless", careless))
        .tool(lookup)
        .hook(Rewrite::new(16, card_number).named("cards"))
        .build()?;

    let mut events = agent.stream(Msg::user("Is my bill paid?"));
    while let Some(event) = events.next().await {
        match event?.kind {
            AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) => print!("{text}|"),
            AgentEventKind::ToolStarted(call) => println!("[{} runs]", call.name),
            AgentEventKind::ToolChunk { text, .. } => println!("[.. {text}]"),
            AgentEventKind::ToolFinished(result) => println!("[{}]", result.output),
            AgentEventKind::Finished(reply) => {
                let usage = reply.usage.unwrap_or_default();
                println!("\n\n{}\n({} tokens)", reply.text(), usage.total_tokens());
            }
            _ => {}
        }
        std::io::stdout().flush().expect("the terminal is there");
    }
    Ok(())
}
