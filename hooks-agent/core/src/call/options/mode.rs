//! The modes of a call: plan, ask, accept.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::call::context::CallContext;
use crate::call::tool::Effect;

/// What a call may do, and what it asks about, beside what hooks decide. Agents that are tools run in the mode of
/// their caller.
///
/// ```
/// use hooks_agent::call::RunMode;
/// use hooks_agent::prelude::*;
/// use hooks_agent::tool::Effect;
/// # use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
/// let pay = pay.permission(|_| Permission::Ask);
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "pay", json!({})).into(),
/// #     }
/// # });
/// // `model` calls the tool and answers with the result.
/// let agent = ReActAgent::builder("clerk").model(model).tool(pay).build()?;
/// let plan = CallOptions::new().mode(RunMode::Plan);
/// let reply = agent.call_with(plan, "Pay the baker").await?;
/// assert_eq!(reply.text(), "this call plans, and `pay` does more than read, so it did not run");
///
/// let accept = CallOptions::new().mode(RunMode::accept(["pay"]));
/// assert_eq!(agent.call_with(accept, "Pay the baker").await?.text(), "paid");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunMode {
    /// Tools run that [read](Effect::Reads), and no others: the model reads why. Nobody is asked about those.
    Plan,
    /// Tools that [ask](crate::tool::Permission::Ask) ask.
    #[default]
    Ask,
    /// Tools of these names do not [ask](crate::tool::Permission::Ask): the caller accepts what they do. What
    /// hooks ask is asked, and what a tool or a hook denies is denied.
    Accept(Arc<BTreeSet<String>>),
}

impl RunMode {
    /// Creates the mode in which tools of these names do not ask.
    pub fn accept(tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::Accept(Arc::new(tools.into_iter().map(Into::into).collect()))
    }

    /// Returns why a tool with this effect does not run, if it does not.
    pub(crate) fn refuses(&self, tool: &str, effect: Effect) -> Option<String> {
        let is_refused = *self == Self::Plan && effect > Effect::Reads;
        is_refused.then(|| {
            format!("this call plans, and `{tool}` does more than read, so it did not run")
        })
    }

    /// Returns whether the caller accepts what a tool asks about.
    pub(crate) fn accepts(&self, tool: &str) -> bool {
        matches!(self, Self::Accept(tools) if tools.contains(tool))
    }
}

impl CallContext {
    /// Returns what the call may do without asking: the mode of the [outermost](Self::outermost) call that sets
    /// one, and no more than that of a caller allows.
    #[must_use]
    pub fn mode(&self) -> &RunMode {
        &self.call.mode
    }
}
