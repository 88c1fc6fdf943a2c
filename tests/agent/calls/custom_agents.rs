//! Agents of one's own, which write no more than they must.

use std::sync::Arc;

use hooks_agent_core::error::InputError;
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_fixtures::scripted_agents::{echo, echo_tool, go, script, uses};

/// Passes its calls on to another agent.
#[derive(Hookable)]
struct Router {
    state: AgentState,
    clerk: ReActAgent,
    hooks: Hooks,
}

#[hookable]
impl Agent for Router {
    fn state(&self) -> &AgentState {
        &self.state
    }

    async fn reply(&self, cx: CallContext, messages: Messages) -> Result<Msg, AgentError> {
        self.clerk.call_with(CallOptions::new().forward(&cx), messages).await
    }
}

fn router() -> Router {
    let (model, _) = script([uses([echo("1", "paid")]), "done".into()]);
    let clerk = ReActAgent::builder("clerk")
        .model(model)
        .tool(echo_tool(&Arc::default()).permission(|_| Permission::Ask))
        .build()
        .unwrap();
    Router { state: AgentState::new("router"), clerk, hooks: Hooks::new() }
}

#[tokio::test]
async fn confirmations_reach_the_agent_that_a_call_is_passed_on_to() {
    let router = router();
    let asked = router.call(go()).await.unwrap();
    assert_eq!(asked.reason, Some(GenerateReason::PermissionAsking));
    let id = &asked.pending()[0].id;
    let reply = router.resume(CallOptions::new().confirm(id)).await.unwrap();
    assert_eq!((reply.text().as_str(), reply.pending()), ("done", &[][..]));
}

#[tokio::test]
async fn a_refusal_reaches_the_agent_that_a_call_is_passed_on_to() {
    let router = router();
    let asked = router.call(go()).await.unwrap();
    assert_eq!(router.call(asked.pending()[0].refused("no")).await.unwrap().text(), "done");
    let messages = router.clerk.memory().messages();
    assert_eq!(messages.iter().flat_map(Msg::tool_results).next().unwrap().output, "no");
}

#[tokio::test]
async fn a_confirmation_of_what_does_not_wait_is_an_error() {
    let error = router().resume(CallOptions::new().confirm("1")).await.unwrap_err();
    assert!(matches!(error, AgentError::Input(InputError::UnknownConfirmations { .. })));
    assert_eq!(error.to_string(), "confirmed tool calls do not wait: 1; no tool call waits");
}

#[tokio::test]
async fn what_an_agent_does_not_write_does_nothing() {
    let router = router();
    let cx = router.context(CallOptions::new());
    router.observe(cx, go()).await.unwrap();
    router.print("nobody sees it");
}
