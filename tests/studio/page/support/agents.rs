//! Agents that a test leads step by step.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::stream;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, ChatStream};
use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A model that says what the test sends, and ends when the sender is dropped.
#[derive(Clone)]
pub(crate) struct Lines(Arc<Mutex<UnboundedReceiver<ChatChunk>>>);

impl Lines {
    pub(crate) fn new() -> (UnboundedSender<ChatChunk>, Self) {
        let (sender, receiver) = unbounded_channel();
        (sender, Self(Arc::new(Mutex::new(receiver))))
    }
}

impl ChatModel for Lines {
    fn name(&self) -> &'static str {
        "lines"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let lines = Some(self.0.clone());
        Box::pin(stream::unfold(lines, async |lines| {
            let lines = lines?;
            let chunk = lines.lock().await.recv().await;
            match chunk {
                Some(chunk) => Some((Ok(chunk), Some(lines))),
                None => Some((Ok(ChatChunk::end(Usage::new(3, 2))), None)),
            }
        }))
    }
}

/// A chunk of text.
pub(crate) fn said(text: &str) -> ChatChunk {
    ChatChunk::Text(text.to_owned())
}

/// A model that always says this.
pub(crate) fn says(text: &'static str) -> ScriptedModel {
    ScriptedModel::new("script", move |_| text)
}

/// A model that calls a tool and then says this.
pub(crate) fn tool_then(tool: &'static str, input: Value, text: &'static str) -> ScriptedModel {
    ScriptedModel::new("script", move |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => text.into(),
            None => ToolUse::new("call-1", tool, input.clone()).into(),
        }
    })
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Payment {
    to: String,
    euros: u64,
}

/// An agent whose tool `pay` asks, and how often the tool ran.
pub(crate) fn clerk(studio: &Studio) -> (Arc<ReActAgent>, Arc<AtomicUsize>) {
    let paid = Arc::new(AtomicUsize::new(0));
    let count = paid.clone();
    let pay = FunctionTool::new("pay", "Pays.", move |it: Payment| {
        count.fetch_add(1, Ordering::SeqCst);
        async move { format!("{} euros to {}", it.euros, it.to) }
    });
    let agent = ReActAgent::builder("clerk")
        .model(tool_then("pay", json!({ "to": "baker", "euros": 12 }), "The baker is paid."))
        .tool(pay.permission(|_| Permission::Ask))
        .hook(studio.hook())
        .build()
        .unwrap();
    (Arc::new(agent), paid)
}
