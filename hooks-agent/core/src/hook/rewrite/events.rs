//! Rewrites what an event has.

use std::sync::Arc;

use hooks_core::HookResult;

use crate::event::{Flow, HookEvent};
use crate::hook::rewrite::hook::{OfCall, Rewrite};
use crate::message::{Messages, ToolResult};
use crate::model::Rewriter;

impl Rewrite {
    /// Returns the rewriters of the call, which were asked about what they are to rewrite at the event.
    pub(super) async fn asked(&self, event: &HookEvent<'_>) -> Arc<OfCall> {
        let rewriters = self.of_call(event.context());
        if !rewriters.all.asks() {
            return rewriters;
        }
        let all = rewriters.all.asked(|rewriter| self.walk(rewriter, event)).await;
        Arc::new(OfCall { changes_only: all.clone(), all })
    }

    /// Rewrites copies of what is rewritten at the event.
    fn walk(&self, rewriter: &Rewriter, event: &HookEvent<'_>) {
        let messages = |messages: &Messages| {
            for msg in messages {
                drop(self.places.copied(rewriter, msg));
            }
        };
        match event {
            HookEvent::PreCall(event) => messages(event.messages()),
            HookEvent::PreReasoning(event) => messages(event.messages()),
            HookEvent::PreSummary(event) => messages(event.messages()),
            HookEvent::PostReasoning(event) => drop(self.places.copied(rewriter, event.message())),
            HookEvent::PostSummary(event) => drop(self.places.copied(rewriter, event.message())),
            HookEvent::PostCall(event) => drop(self.places.copied(rewriter, event.final_message())),
            HookEvent::PostActing(event) => {
                drop(self.places.result(rewriter, &mut event.tool_result().clone()));
            }
            _ => {}
        }
    }

    /// Rewrites what the event has.
    pub(super) fn rewrite(
        &self,
        event: &mut HookEvent<'_>,
        rewriters: &OfCall,
    ) -> HookResult<Flow> {
        let (places, all) = (self.places, &rewriters.all);
        match event {
            HookEvent::PreCall(event) => places.messages(all, event.messages_mut())?,
            HookEvent::PreReasoning(event) => {
                places.messages(&rewriters.changes_only, event.messages_mut())?;
            }
            HookEvent::PreSummary(event) => {
                places.messages(&rewriters.changes_only, event.messages_mut())?;
            }
            HookEvent::PostReasoning(event) => {
                if let Some(msg) = places.copied(all, event.message())? {
                    event.set_message(msg);
                }
            }
            HookEvent::PostSummary(event) => {
                if let Some(msg) = places.copied(all, event.message())? {
                    event.set_message(msg);
                }
            }
            HookEvent::PostCall(event) => {
                if let Some(msg) = places.copied(all, event.final_message())? {
                    event.set_final_message(msg);
                }
            }
            HookEvent::PostActing(event) => {
                if let Err(blocked) = places.result(all, event.tool_result_mut()) {
                    all.wrote(&blocked.reason);
                    let result = ToolResult::error(event.tool_use(), blocked.reason);
                    event.set_tool_result(result);
                }
            }
            _ => {}
        }
        Ok(Flow::Continue)
    }
}
