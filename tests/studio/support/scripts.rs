//! Scripted models.

use std::sync::Arc;

use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_studio::Studio;
use hooks_fixtures::Records;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A model that says this.
pub(crate) fn says(text: &'static str) -> ScriptedModel {
    ScriptedModel::new("script", move |_| text)
}

/// A model that calls a tool and then says this.
pub(crate) fn calls_then(tool: &'static str, input: Value, text: &'static str) -> ScriptedModel {
    ScriptedModel::new("script", move |request| -> ScriptedAnswer {
        let answered = request.messages.last().and_then(|msg| msg.tool_results().next());
        match answered {
            Some(_) => text.into(),
            None => ToolUse::new("call-1", tool, input.clone()).into(),
        }
    })
}

/// A clerk that asks before it pays, with the list of what was paid.
pub(crate) struct Clerk {
    pub(crate) agent: Arc<ReActAgent>,
    pub(crate) paid: Arc<Records<Value>>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Payment {
    euros: u64,
}

/// Builds a clerk that pays after it was asked: 12 euros, with the questions of `HumanInTheLoop`.
pub(crate) fn clerk(
    studio: &Studio,
    change: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder,
) -> Clerk {
    let paid = Arc::new(Records::new());
    let list = paid.clone();
    let pay = FunctionTool::new("pay", "Pays.", move |payment: Payment| {
        let list = list.clone();
        async move {
            list.push(json!(payment));
            format!("paid {}", payment.euros)
        }
    });
    let builder = ReActAgent::builder("clerk")
        .model(calls_then("pay", json!({ "euros": 12 }), "Done."))
        .tool(pay)
        .hook(HumanInTheLoop::new().ask("pay"))
        .hook(studio.hook());
    Clerk { agent: Arc::new(change(builder).build().unwrap()), paid }
}
