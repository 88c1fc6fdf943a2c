//! The event hooks of one request.

use std::collections::HashSet;
use std::sync::Arc;

use futures::StreamExt;
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::{CallContext, Door};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{
    Flow, PostCall, PostReasoning, PostSummary, PreActing, PreCall, PreReasoning,
};
use hooks_agent_core::hook::{ModelCall, NextModel};
use hooks_agent_core::message::{ContentBlock, Msg};
use hooks_agent_core::model::{ChatChunk, ModelAnswer, ToolSpec};
use hooks_core::HookResult;
use serde_json::{Map, Value};

use crate::request::ids::{ID, WIRE_CALLS};
use crate::request::kept::{KEPT, Kept};
use crate::request::shared::{Request, message_id};
use crate::transcript::replay;

/// What has its turn before every other hook: what the client sent. Guards see it like anything else.
#[derive(Debug)]
pub(crate) struct First(pub(crate) Arc<Request>);

#[agent_hook(name = "ag_ui_input", priority = i32::MIN, inherit)]
impl First {
    async fn begin(&self, event: &mut PreCall<'_>) -> HookResult {
        let cx = event.context();
        if !self.0.is_of(cx) {
            return Ok(());
        }
        if let Some(memory) = cx.memory() {
            // The same one in every call on the thread.
            let _ = self.0.memory.set(memory);
        }
        for text in &self.0.system {
            event.append_system(cx.screen(Door::Client, text).await?);
        }
        Ok(())
    }

    /// Adds the tools of the client, so that hooks that choose tools know them. A tool of the agent wins.
    async fn offer(&self, event: &mut PreReasoning<'_>) -> HookResult {
        if self.0.tools.is_empty() || !self.0.is_of(event.context()) {
            return Ok(());
        }
        let own: HashSet<_> = event.tools().iter().map(|tool| tool.name.clone()).collect();
        let (taken, free): (Vec<_>, Vec<_>) =
            self.0.tools.iter().partition(|tool| own.contains(&tool.name));
        for tool in taken {
            tracing::warn!(
                target: "hooks_agent::ag_ui",
                tool = tool.name,
                "a tool of the client has the name of one of the agent"
            );
        }
        self.0.set_frontend(free.iter().map(|tool| tool.name.clone()).collect());
        let mut specs = Vec::new();
        for tool in free {
            let mut schema = tool.parameters.clone().unwrap_or_else(|| Value::Object(Map::new()));
            let mut description = tool.description.clone();
            let cx = event.context();
            cx.screen_spec(Door::Client, &tool.name, &mut description, &mut schema).await?;
            specs.push(ToolSpec::new(&tool.name, description, schema));
        }
        let tools: Vec<_> = event.tools().iter().cloned().chain(specs).collect();
        event.set_tools(tools);
        Ok(())
    }

    /// Counts the tokens of each model, sub-agents included.
    async fn count(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let answer = next.run(call.into_request()).await?;
        if answer.reason().is_some() {
            // A hook answers in place of the model.
            return Ok(answer);
        }
        let (provider, model) = (answer.provider().to_owned(), answer.model().to_owned());
        let request = self.0.clone();
        Ok(answer.map_stream(move |stream| {
            Box::pin(stream.inspect(move |chunk| {
                if let Ok(ChatChunk::End { usage, .. }) = chunk {
                    request.add_usage(&provider, &model, *usage);
                }
            }))
        }))
    }
}

/// What has its turn after every other hook: what the client will see.
#[derive(Debug)]
pub(crate) struct Last(pub(crate) Arc<Request>);

#[agent_hook(name = "ag_ui", priority = i32::MAX)]
impl Last {
    fn answered(&self, event: &mut PostReasoning<'_>) {
        let cx = event.context();
        if self.0.is_of(cx) {
            self.0.put_client_last(event.message_mut());
            self.0.name(event.message_mut());
        }
    }

    fn summed_up(&self, event: &mut PostSummary<'_>) {
        let cx = event.context();
        if self.0.is_of(cx) {
            self.0.name(event.message_mut());
        }
    }

    /// Leaves a call of a tool of the client to the client.
    fn wait(&self, event: &mut PreActing<'_>) -> Flow {
        let call = event.tool_use();
        let waits = call.invalid_input.is_none() && self.0.is_frontend(&call.name);
        if waits && self.0.is_of(event.context()) { event.stop() } else { Flow::Continue }
    }

    /// Keeps with the thread what the next request needs.
    fn keep(&self, event: &mut PostCall<'_>) -> HookResult {
        let cx = event.context();
        if !self.0.is_of(cx) {
            return Ok(());
        }
        let reply = event.final_message();
        let history = cx.memory().map(|memory| memory.messages()).unwrap_or_default();
        self.0.keep_reply(reply, &history);
        let ids: HashSet<_> = history.iter().filter_map(message_id).collect();
        let mut replies = self.0.replies();
        replies.retain(|id, _| ids.contains(id.as_str()));
        let mut answers = self.0.answers();
        if message_id(reply).is_none() || !answers.is_empty() {
            let shown = replay(&history, &replies, &[]);
            self.0.keep_answer(reply, &history, shown.last.as_deref());
            answers = self.0.answers();
            let shown = shown.message_ids();
            let is_there = |id: &String| shown.contains(id.as_str());
            answers.retain(|answer| answer.behind.as_ref().is_none_or(is_there));
        }
        let kept = self.0.kept(reply.pending());
        let before = &self.0.before;
        let asked = if kept.is_empty() { before.asked } else { before.next_asked() };
        let pending = reply.pending().iter().map(|pending| pending.id.clone()).zip(kept).collect();
        let kept = Kept { pending, replies, answers, asked };
        if kept != self.0.before {
            cx.set_thread_value(KEPT, &kept)?;
        }
        Ok(())
    }
}

impl Request {
    /// Returns whether it is the call that the client made, not that of a sub-agent.
    fn is_of(&self, cx: &CallContext) -> bool {
        cx.run_id() == self.run
    }

    /// Writes the ids of the stream into a message.
    fn name(&self, msg: &mut Msg) {
        self.set_answered();
        let id = self.ids.message(self.run);
        msg.metadata.insert(ID.to_owned(), id.into());
        let calls = msg.tool_uses().filter_map(|call| {
            let wire = self.ids.tool_call(self.run, &call.id);
            (wire != call.id).then(|| (call.id.clone(), Value::from(wire)))
        });
        let calls: Map<_, _> = calls.collect();
        if !calls.is_empty() {
            msg.metadata.insert(WIRE_CALLS.to_owned(), calls.into());
        }
    }

    /// Moves calls of tools of the client behind the others: the first of them ends the run.
    fn put_client_last(&self, msg: &mut Msg) {
        let is_client = |block: &ContentBlock| matches!(block, ContentBlock::ToolUse(call) if self.is_frontend(&call.name));
        if !msg.content.iter().any(is_client) {
            return;
        }
        let is_call = |block: &ContentBlock| matches!(block, ContentBlock::ToolUse(_));
        let calls = msg.content.iter().filter(|block| is_call(block)).cloned();
        let (client, own): (Vec<_>, Vec<_>) = calls.partition(is_client);
        let mut calls = own.into_iter().chain(client);
        for block in msg.content.iter_mut().filter(|block| is_call(block)) {
            if let Some(call) = calls.next() {
                *block = call;
            }
        }
    }
}
