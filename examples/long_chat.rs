//! 200 rounds in a context window of 4,000 tokens: what the model reads, and what it can still answer.
//!
//! The models are scripted and read nothing but their requests. `librarian` refuses a request above its
//! window, as a provider does.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hooks_agent::builtin::context::AutoContext;
use hooks_agent::message::unanswered_tool_uses;
use hooks_agent::model::{ModelError, TokenCounter};
use hooks_agent::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

const WINDOW: u64 = 4_000;
const ROUNDS: usize = 200;

static LARGEST: AtomicU64 = AtomicU64::new(0);
static SUMMARIES: AtomicUsize = AtomicUsize::new(0);

#[derive(Deserialize, JsonSchema)]
struct Day {
    day: usize,
}

/// A log of 100 lines: about 1,000 tokens. Line 0 has the code of the day, line 70 the visitor.
fn log(day: usize) -> String {
    let line = |number: usize| match number {
        0 => format!("The code of day {day} is K{}.", day * 37 % 1000),
        70 => format!("The visitor of day {day} is guest number {}.", day * 11),
        _ => format!("Day {day}, line {number}: nothing to see here."),
    };
    (0..100).map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the rest of the first sentence that begins so.
fn find<'a>(text: &'a str, beginning: &str) -> Option<&'a str> {
    let rest = text.split_once(beginning)?.1;
    Some(rest.split_once('.')?.0)
}

/// Reads the log of a day, or answers a question from its request.
fn librarian(request: &ChatRequest) -> ScriptedAnswer {
    let counter = TokenCounter::approximate();
    let tokens = counter.count(&request.messages) + counter.count_tools(&*request.tools);
    LARGEST.fetch_max(tokens, Ordering::Relaxed);
    if tokens > WINDOW {
        return ModelError::status("librarian", 400).into();
    }
    let asked = request.messages.iter().rfind(|msg| msg.role == Role::User && !is_summary(msg));
    let asked = asked.map(Msg::text).unwrap_or_default();
    let last = request.messages.last().and_then(|msg| msg.tool_results().next());
    if let Some(day) = asked.strip_prefix("Read the log of day ") {
        return match last {
            Some(_) => format!("I have read the log of day {day}.").into(),
            None => {
                let day: usize = day.parse().unwrap_or_default();
                ToolUse::new(format!("log{day}"), "read_log", json!({ "day": day })).into()
            }
        };
    }
    let beginning = asked.replace("What is the ", "The ").replace('?', " is ");
    let mut texts = Vec::new();
    for msg in &request.messages {
        texts.push(msg.text());
        texts.extend(msg.tool_results().map(|result| result.output.as_str().to_owned()));
    }
    if let Some(answer) = texts.iter().find_map(|text| find(text, &beginning)) {
        return answer.into();
    }
    // What it looks for is not in the request: it reads the log of that day, by the id in the reference
    // or in the summary.
    let day = asked.rsplit("day ").next().unwrap_or_default().trim_end_matches('?');
    let mut results = request.messages.iter().flat_map(Msg::tool_results);
    let result = results.find(|result| result.id == format!("log{day}"));
    let reference =
        result.and_then(|it| it.output.as_str().split_once(", id \"")?.1.split_once('"'));
    let summary = request.messages.iter().find(|msg| is_summary(msg)).map(Msg::text);
    let summary = summary.unwrap_or_default();
    let code = format!("The code of day {day} is ");
    let summarized = summary.split_once(&code).and_then(|(_, rest)| rest.split_once(". ("));
    let summarized = summarized.and_then(|(_, rest)| rest.split_once(')'));
    let id = reference.or(summarized).map(|(id, _)| id);
    match id {
        Some(id) if last.is_none() => {
            let arguments = json!({ "id": id, "from": 2_000, "to": 6_000 });
            ToolUse::new("read", "read_offloaded", arguments).into()
        }
        _ => "I do not know.".into(),
    }
}

fn is_summary(msg: &Msg) -> bool {
    msg.text().starts_with("Here is a summary")
}

/// Keeps the sentences about codes, and the ids of the logs.
fn small(request: &ChatRequest) -> String {
    SUMMARIES.fetch_add(1, Ordering::Relaxed);
    let text = request.last_text();
    let (before, new) = text.split_once("\n\nWhat followed:\n\n").unwrap_or(("", &text));
    let before = before.trim_start_matches("The summary so far:\n\n");
    let logs = new.split("Result of tool `read_log` (id \"").skip(1).filter_map(|log| {
        let (id, log) = log.split_once('"')?;
        let code = find(log, "The code of day ")?;
        Some(format!("The code of day {code}. ({id})"))
    });
    [before].into_iter().map(str::to_owned).chain(logs).collect::<Vec<_>>().join(" ")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let read_log =
        FunctionTool::new("read_log", "Reads the log of a day.", async |Day { day }| log(day));
    let model = ScriptedModel::new("librarian", librarian).with_context_window(WINDOW);
    let context = AutoContext::builder()
        .large(500)
        .head(200)
        .keep(2)
        .summarize_with(ScriptedModel::new("small", small))
        .build()?;
    let agent =
        ReActAgent::builder("librarian").model(model).tool(read_log).hook(context).build()?;

    for day in 1..=ROUNDS {
        agent.call(format!("Read the log of day {day}")).await?;
    }
    let history = agent.memory().messages();
    let counter = TokenCounter::approximate();
    println!("after {ROUNDS} rounds:");
    println!("  in memory: {} messages, {} tokens", history.len(), counter.count(&history));
    println!("  the largest request: {} of {WINDOW} tokens", LARGEST.load(Ordering::Relaxed));
    println!("  summaries: {}", SUMMARIES.load(Ordering::Relaxed));
    println!("  tool calls without a result: {}", unanswered_tool_uses(&history).len());
    for question in [
        "What is the code of day 3?",
        "What is the visitor of day 200?",
        "What is the visitor of day 3?",
    ] {
        let before = agent.memory().messages().len();
        let answer = agent.call(question).await?.text();
        let messages = agent.memory().messages();
        let read = messages.iter().skip(before).flat_map(Msg::tool_uses).map(|call| &call.name);
        let how = if read.count() > 0 { "read_offloaded" } else { "the request" };
        println!("{question} {answer} (from {how})");
    }
    Ok(())
}
