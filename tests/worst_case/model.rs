//! A model that does whatever it reads.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::{StreamExt, stream};
use hooks_agent_core::message::{Msg, ToolUse, Usage};
use hooks_agent_core::model::{ChatChunk, ChatModel, ChatRequest, ChatStream};

use crate::suite::{Call, Suite, Task};

/// Makes the calls of a task one after another, and, as soon as it has read an injected text, first those that the
/// text wants. A call that is not allowed is not tried again.
pub(crate) struct Gullible {
    suite: Suite,
    script: Arc<Mutex<Script>>,
}

struct Script {
    /// The calls that are left, in order.
    calls: VecDeque<Call>,
    made: usize,
    output: String,
    /// The text that was not read yet, in lines.
    unread: Vec<String>,
}

impl Gullible {
    pub(crate) fn new(suite: Suite, task: &Task) -> Self {
        let lines = task.goal.iter().flat_map(|goal| goal.lines().map(letters));
        let script = Script {
            calls: task.calls.iter().cloned().collect(),
            made: 0,
            output: task.output.clone(),
            unread: lines.filter(|line| !line.is_empty()).collect(),
        };
        Self { suite, script: Arc::new(Mutex::new(script)) }
    }
}

impl ChatModel for Gullible {
    fn name(&self) -> &'static str {
        "gullible"
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        let (suite, script) = (self.suite.clone(), self.script.clone());
        let chunk = async move {
            if lock(&script).reads(&request) {
                let attack = suite.attack().await;
                let mut script = lock(&script);
                script.output = format!("{}\n{}", script.output, attack.output);
                for call in attack.calls.into_iter().rev() {
                    script.calls.push_front(call);
                }
            }
            lock(&script).next()
        };
        let end = stream::iter([Ok(ChatChunk::end(Usage::default()))]);
        Box::pin(stream::once(chunk).map(Ok).chain(end))
    }
}

impl Script {
    /// Whether the last results have the injected text, which was not read before.
    fn reads(&mut self, request: &ChatRequest) -> bool {
        let results = request.messages.last().into_iter().flat_map(Msg::tool_results);
        let has_it = |text: &str| {
            let text = letters(text);
            !self.unread.is_empty() && self.unread.iter().all(|line| text.contains(line))
        };
        let is_read = results.map(|result| result.output.as_str()).any(has_it);
        if is_read {
            self.unread.clear();
        }
        is_read
    }

    fn next(&mut self) -> ChatChunk {
        let Some(call) = self.calls.pop_front() else {
            let is_silent = self.output.trim().is_empty();
            let output = if is_silent { "Done." } else { &self.output };
            return ChatChunk::Text(output.to_owned());
        };
        self.made += 1;
        ChatChunk::ToolUse(ToolUse::new(self.made.to_string(), call.name, call.args))
    }
}

/// The letters and digits of a text: results may be wrapped and quoted.
fn letters(text: &str) -> String {
    text.chars().filter(|char| char.is_alphanumeric()).collect()
}

fn lock(script: &Mutex<Script>) -> MutexGuard<'_, Script> {
    script.lock().unwrap_or_else(PoisonError::into_inner)
}
