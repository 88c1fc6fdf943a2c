//! The hook that asks a decider about tool calls.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use hooks_core::{BoxError, BoxFuture, HookRole};
use tokio::sync::Semaphore;

use crate::guard::tool_approval::decision::{ApprovalRequest, Decision, IntoDecision};
use crate::guard::tool_approval::ledger::{Approval, Ledger, is_same};
use hooks_agent_core::agent::CallOutcome;
use hooks_agent_core::agent_hook;
use hooks_agent_core::event::{Flow, PostActing, PreActing, Settled};
use hooks_agent_core::hook::{NextTool, ToolCall, priority};
use hooks_agent_core::message::{GenerateReason, ToolResult, ToolUse};
use hooks_agent_core::tool::ToolError;

/// Asks a decider in the program about tool calls before they run: a person at a terminal, a policy
/// engine, another model.
///
/// The decider allows the tool call, denies it with a reason that the model reads, or edits its
/// arguments. A decider that fails, panics, or exceeds its [timeout](ToolApproval::timeout) denies.
/// What runs is what was approved: a tool call that another hook changes after the approval fails,
/// whatever the priority of that hook, as does one that a hook turns into a tool call of a guarded
/// tool. [Hidden](hooks_agent_core::message::ToolUse::hide) arguments are excepted: the program adds them, and
/// the decider does not see them.
///
/// It does not replace the [permission](hooks_agent_core::tool::Permission) of the tool, which is checked after
/// it, also for edited arguments. It does not keep a call waiting across processes, as
/// [`HumanInTheLoop`](crate::people::HumanInTheLoop) does. Tool calls that a hook answers before
/// it do not reach the decider.
///
/// An interrupt ends the call while the decider runs, whose future is dropped. An approved tool call
/// that then waits for a confirmation of the user runs after it as approved, without a second
/// question; in another process, or after 1024 others, the decider is asked again.
///
/// | setting | default |
/// |---|---|
/// | tools: [a set](ToolApproval::new), [a predicate](ToolApproval::when) | required |
/// | the decider, which returns a [`Decision`] or a `Result` of it | required |
/// | [`timeout`](ToolApproval::timeout) | none |
/// | [`one_at_a_time`](ToolApproval::one_at_a_time) | parallel tool calls ask at once |
///
/// Its priority is [`priority::AUTH`]: after hooks of [`priority::SECURITY`], which redact or refuse,
/// and before limits that count and arguments that are added. It is inherited: it guards tools of
/// these names in sub-agents too. Clones share the approvals and the queue.
///
/// ```
/// use hooks_agent::builtin::guard::{ApprovalRequest, Decision, ToolApproval};
/// use hooks_agent::prelude::*;
/// use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// let pay = FunctionTool::new("pay", "Pays.", async |input: Value| format!("paid: {input}"));
/// // `model` pays 100 and answers with the result.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "pay", json!({ "euros": 100 })).into(),
/// #     }
/// # });
/// let approval = ToolApproval::new(["pay"], async |request: ApprovalRequest| {
///     match request.tool_use().input["euros"].as_u64() {
///         Some(0..=50) => Decision::Allow,
///         Some(_) => Decision::Edit(json!({ "euros": 50 })),
///         None => Decision::deny("euros must be a number"),
///     }
/// });
/// let agent = ReActAgent::builder("assistant").model(model).tool(pay).hook(approval).build()?;
/// assert_eq!(agent.call("Pay 100").await?.text(), r#"paid: {"euros":50}"#);
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct ToolApproval {
    tools: Tools,
    decider: Arc<Decider>,
    timeout: Option<Duration>,
    turns: Option<Arc<Semaphore>>,
    ledger: Arc<Ledger>,
}

#[derive(Clone)]
enum Tools {
    Named(Arc<BTreeSet<String>>),
    When(Arc<Needs>),
}

type Needs = dyn Fn(&ToolUse) -> bool + Send + Sync;
type Decider =
    dyn Fn(ApprovalRequest) -> BoxFuture<'static, Result<Decision, BoxError>> + Send + Sync;

impl ToolApproval {
    /// Creates a hook that asks the decider about calls of these tools.
    pub fn new<F, D>(tools: impl IntoIterator<Item = impl Into<String>>, decider: D) -> Self
    where
        D: Fn(ApprovalRequest) -> F + Send + Sync + 'static,
        F: Future<Output: IntoDecision> + Send + 'static,
    {
        Self::of(Tools::Named(Arc::new(tools.into_iter().map(Into::into).collect())), decider)
    }

    /// Creates a hook that asks the decider about tool calls for which the predicate returns true or
    /// panics.
    pub fn when<F, D>(
        needs_approval: impl Fn(&ToolUse) -> bool + Send + Sync + 'static,
        decider: D,
    ) -> Self
    where
        D: Fn(ApprovalRequest) -> F + Send + Sync + 'static,
        F: Future<Output: IntoDecision> + Send + 'static,
    {
        Self::of(Tools::When(Arc::new(needs_approval)), decider)
    }

    fn of<F, D>(tools: Tools, decider: D) -> Self
    where
        D: Fn(ApprovalRequest) -> F + Send + Sync + 'static,
        F: Future<Output: IntoDecision> + Send + 'static,
    {
        let decider = move |request| -> BoxFuture<'static, _> {
            let deciding = decider(request);
            Box::pin(async { deciding.await.into_decision() })
        };
        let decider = Arc::new(decider);
        Self { tools, decider, timeout: None, turns: None, ledger: Arc::default() }
    }

    /// Denies a tool call on which the decider does not decide in this time. The time in which other
    /// tool calls have their turn does not count. It requires a Tokio runtime with time; without one,
    /// tool calls are denied.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Asks about one tool call after the other, in all agents that have this hook or a clone of it.
    pub fn one_at_a_time(mut self) -> Self {
        self.turns = Some(Arc::new(Semaphore::new(1)));
        self
    }

    fn needs_approval(&self, call: &ToolUse) -> bool {
        match &self.tools {
            Tools::Named(names) => names.contains(&call.name),
            Tools::When(needs) => catch_unwind(AssertUnwindSafe(|| needs(call))).unwrap_or(true),
        }
    }

    /// Asks the decider. Returns why there is no decision if it fails.
    async fn decide(&self, request: ApprovalRequest) -> Result<Decision, &'static str> {
        let _turn = match &self.turns {
            Some(turns) => Some(turns.acquire().await.map_err(|_| "the queue is closed")?),
            None => None,
        };
        let deciding = AssertUnwindSafe(async {
            let decision = (self.decider)(request);
            match self.timeout {
                Some(timeout) => tokio::time::timeout(timeout, decision).await.ok(),
                None => Some(decision.await),
            }
        });
        match deciding.catch_unwind().await {
            Ok(Some(Ok(decision))) => Ok(decision),
            Ok(Some(Err(error))) => {
                tracing::warn!(target: "hooks_agent::builtin::guard", %error, "the decider of a tool call failed");
                Err("the decider failed")
            }
            Ok(None) => Err("the decider did not decide in time"),
            Err(_) => Err("the decider panicked"),
        }
    }
}

#[agent_hook(
    priority = priority::AUTH, role = HookRole::Guards, inherit, always, tool_names = Self::named_tools,
    not_in_shadow = |_: &Self| Some("it asks somebody, whose answer reaches nobody".to_owned())
)]
impl ToolApproval {
    async fn pre_acting(&self, event: &mut PreActing<'_>) -> Flow {
        let (cx, call) = (event.context(), event.tool_use());
        if call.invalid_input.is_some() || !self.needs_approval(call) {
            return Flow::Continue;
        }
        let call = call.clone();
        let resumed = self.ledger.resume(cx, &call).filter(|_| cx.is_confirmed(&call.id));
        // A clone of the hook may have asked before.
        let earlier = self.ledger.approved(cx, &call.id);
        let earlier = earlier.filter(|earlier| is_same(&earlier.approved, &call));
        if let Some(approval) = resumed.or(earlier) {
            event.tool_use_mut().input.clone_from(&approval.approved.input);
            self.ledger.approve(cx, approval);
            return Flow::Continue;
        }
        let not_approved = |why: &str| {
            let separator = if why.is_empty() { "" } else { ": " };
            format!("the call of `{}` is not approved{separator}{why}", call.name)
        };
        let decision = self.decide(ApprovalRequest::new(call.clone(), cx.clone())).await;
        match decision {
            Ok(Decision::Allow) => {}
            Ok(Decision::Edit(input)) if input.is_object() => event.tool_use_mut().input = input,
            Ok(Decision::Edit(_)) => {
                return event.refuse(not_approved("the edited arguments are no JSON object"));
            }
            Ok(Decision::Deny(reason)) => return event.refuse(not_approved(&reason)),
            Err(why) => return event.refuse(not_approved(why)),
        }
        self.ledger.approve(cx, Approval::new(call, event.tool_use().clone()));
        Flow::Continue
    }

    fn post_acting(&self, event: &PostActing<'_>) {
        self.ledger.forget(event.context(), &event.tool_use().id);
    }

    fn settled(&self, event: &Settled<'_>) {
        use GenerateReason::{ActingStopRequested, PermissionAsking, ReasoningStopRequested};
        let stops = [ActingStopRequested, PermissionAsking, ReasoningStopRequested];
        let waits = match event.outcome() {
            CallOutcome::Finished(Some(reason)) => stops.contains(reason),
            _ => false,
        };
        self.ledger.settle(event.context(), waits);
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let (hook, cx) = (self.clone(), call.context().clone());
        let check = move |running: &ToolUse| match hook.ledger.approved(&cx, &running.id) {
            Some(approval) if is_same(&approval.approved, running) => Ok(()),
            Some(_) => Err("it differs from the approved call".to_owned()),
            None if hook.needs_approval(running) => Err("it is not approved".to_owned()),
            None => Ok(()),
        };
        next.run_checked(call.into_tool_use(), check).await
    }

    fn named_tools(&self) -> Vec<String> {
        match &self.tools {
            Tools::Named(names) => names.iter().cloned().collect(),
            Tools::When(_) => Vec::new(),
        }
    }
}

impl fmt::Debug for ToolApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: &dyn fmt::Debug = match &self.tools {
            Tools::Named(names) => names,
            Tools::When(_) => &"by a predicate",
        };
        f.debug_struct("ToolApproval")
            .field("tools", tools)
            .field("timeout", &self.timeout)
            .field("one_at_a_time", &self.turns.is_some())
            .finish_non_exhaustive()
    }
}
