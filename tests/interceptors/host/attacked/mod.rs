//! Attacks of outsiders, and what they share.

mod evaluated;
mod journals;
mod nowhere;
mod order;
mod people;
mod stopped;
mod streams;
mod texts;

use std::collections::BTreeMap;

use agent_hooks::{AgentContext, Interceptor, Verdict};
use futures::{StreamExt, stream};
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, ChatStream, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_interceptors::{Interceptors, Output, Segment, async_trait};
use serde_json::{Value, json};
use tokio::task::yield_now;

use crate::support::{Records, deny};

pub(crate) struct Chunks(Vec<Result<ChatChunk, ModelError>>);

impl ChatModel for Chunks {
    fn name(&self) -> &'static str {
        "chunks"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        Box::pin(stream::iter(self.0.clone()).then(|chunk| async move {
            yield_now().await;
            chunk
        }))
    }
}

pub(crate) fn text(text: &str) -> Result<ChatChunk, ModelError> {
    Ok(ChatChunk::Text(text.to_owned()))
}

pub(crate) fn thinking(text: &str) -> Result<ChatChunk, ModelError> {
    Ok(ChatChunk::Thinking(text.to_owned()))
}

pub(crate) fn end() -> Result<ChatChunk, ModelError> {
    Ok(ChatChunk::end(Usage::new(3, 2)))
}

pub(crate) fn by_chunk() -> Output {
    Output::Incremental { segment: Segment::Chunk }
}

/// What is wrong with the trail of each session.
pub(crate) fn check(records: &Records) -> Result<(), String> {
    let mut sessions: BTreeMap<String, Vec<_>> = BTreeMap::default();
    for record in records.all() {
        sessions.entry(record.session_id.clone()).or_default().push(record);
    }
    for session in sessions.values() {
        let points: Vec<_> = session
            .iter()
            .map(|it| {
                format!(
                    "{} {:?} {:?}",
                    it.interception_point, it.verdict.decision, it.verdict.reason
                )
            })
            .collect();
        let is_ordered = session.iter().map(|it| it.sequence).eq((0..).take(session.len()));
        let count = |point: &str| {
            session.iter().filter(|it| it.interception_point.as_str() == point).count()
        };
        let permitted = session
            .iter()
            .filter(|it| it.interception_point.as_str() == "pre_tool_call" && it.proceeds())
            .count();
        let is_right = is_ordered
            && points[0].starts_with("agent_startup")
            && points.last().unwrap().starts_with("agent_shutdown")
            && count("agent_startup") == 1
            && count("agent_shutdown") == 1
            && permitted == count("post_tool_call");
        if !is_right {
            return Err(format!("{points:?}"));
        }
    }
    Ok(())
}

/// Waits at each point, and denies what has a word at a point.
pub(crate) struct DeniesWord {
    at: &'static str,
    word: &'static str,
    waits: usize,
}

#[async_trait]
impl Interceptor for DeniesWord {
    async fn intercept(&self, context: &AgentContext) -> Verdict {
        for _ in 0..self.waits {
            yield_now().await;
        }
        if context["interception_point"] == self.at
            && context["target"].to_string().contains(self.word)
        {
            deny("word")
        } else {
            Verdict::allow()
        }
    }
}

/// Calls both tools, and then says a secret.
struct Busy;

impl ChatModel for Busy {
    fn name(&self) -> &'static str {
        "busy"
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        let chunks = match request.messages.last().unwrap().tool_results().next() {
            None => vec![
                thinking("Hm."),
                text("I look "),
                text("at it.\n"),
                Ok(ChatChunk::ToolUse(ToolUse::new("1", "look", json!({ "at": 1 })))),
                Ok(ChatChunk::ToolUse(ToolUse::new("2", "below", json!({ "task": "Go" })))),
                end(),
            ],
            Some(_) => vec![
                thinking("SECRET thought"),
                text("It "),
                text("is\n"),
                text("SEC"),
                text("RET"),
                text(" you see"),
                end(),
            ],
        };
        Chunks(chunks).stream(request)
    }
}

/// Calls two tools with a sub-agent, then says a secret.
pub(crate) fn busy(interceptors: Interceptors, at_once: bool) -> ReActAgent {
    let below = ScriptedModel::new("below", |_| "BELOW SECRET");
    let below = ReActAgent::builder("below").model(below).build().unwrap();
    let look = FunctionTool::with_context("look", "Looks.", async |_: Value, cx: ToolContext| {
        yield_now().await;
        cx.progress("SECRET progress");
        yield_now().await;
        "SECRET result"
    });
    let agent = ReActAgent::builder("busy").model(Busy).tool(look).parallel_tools(at_once);
    let agent = agent.tool(below.to_tool("Runs."));
    agent.hook(interceptors).build().unwrap()
}
