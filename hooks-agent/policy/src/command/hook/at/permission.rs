//! Checks whether a tool call may run.

use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::{NextPermission, PermissionCheck};
use hooks_agent_core::tool::Permission;
use serde_json::Value;

use crate::command::contract::CommandEvent;
use crate::command::decide::Verdict;
use crate::command::hook::command_hooks::CommandHooks;
use crate::command::hook::commands::Occasion;
use crate::command::hook::input;

impl CommandHooks {
    /// Answers in place of the user what the tool asks about. What it denies stays denied.
    pub(crate) async fn around_permission(
        &self,
        check: PermissionCheck<'_>,
        next: NextPermission<'_>,
    ) -> Result<Permission, AgentError> {
        let (cx, call) = (check.context(), check.into_tool_use());
        let permission = next.run(call.clone()).await?;
        let state = self.state(cx);
        let event = CommandEvent::PermissionRequest;
        if permission != Permission::Ask {
            return Ok(permission);
        }
        if state.lock().is_allowed(&call) {
            return Ok(Permission::Allow);
        }
        if !self.listens(event) {
            return Ok(permission);
        }
        let input = input::of_tool(event, None, cx, &call);
        let occasion = Occasion { event, subject: Some(&call.name), tool: Some(&call) };
        let combined = self.run(cx, occasion, input).await;
        if let Some(stop) = combined.stop {
            let reason = format!("stopped by hook `{}`", stop.hook);
            self.note_stop(cx, stop);
            return Ok(Permission::Deny(reason));
        }
        match combined.verdict {
            Verdict::Block => Ok(Permission::Deny(combined.reason)),
            Verdict::Allow => {
                let mut facts = state.lock();
                let tool = facts.tool(&call.id);
                let rewrite = combined.rewrite.map(Value::Object);
                let runs = rewrite.clone().unwrap_or_else(|| call.input.clone());
                tool.allowed = Some((call.name.clone(), runs));
                tool.rewrite = rewrite.map(|rewrite| (call.input.clone(), rewrite));
                Ok(Permission::Allow)
            }
            _ => Ok(permission),
        }
    }
}
