//! The hook that goes by quotas.

use std::fmt;
use std::sync::Arc;

use hooks_agent_core::agent_hook;
use hooks_agent_core::call::{CallContext, RunId};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{Flow, PreCall};
use hooks_agent_core::hook::{AroundMask, ModelCall, NextModel, NextTool, ToolCall};
use hooks_agent_core::message::{GenerateReason, Msg, ToolResult, ToolUse};
use hooks_agent_core::model::{ChatRequest, ModelAnswer, PriceTable};
use hooks_agent_core::store::{QuotaExceeded, Reservation, StoreError};
use hooks_agent_core::tool::ToolError;
use hooks_core::{HookResult, HookRole};

use crate::quotas::builder::QuotasBuilder;
use crate::quotas::checked::Checked;
use crate::quotas::model_calls::{ModelCalls, Reserved};
use crate::quotas::quota::{Over, QuotaExit};
use crate::quotas::unsettled::Unsettled;

/// Goes by quotas: how many calls, tool calls, tokens, and how much money, each user, team, agent or thread may use
/// in an hour, a day or a month.
///
/// What is used is counted in the [store](hooks_agent_core::store::Store) of the agent with the hook, which agents and
/// processes share, by the clock of the store; without one, in the process. Sub-agents count there too.
///
/// - **Before.** Something is reserved before it is used, in all quotas that are about it, or it does not happen: a call
///   before its first hook further in, a model call before the request is sent, a tool call right as the tool starts,
///   in the transaction that marks it as started. Two processes never find the same room.
/// - **Once.** A tool call is counted once, also if its process ends and another one goes on with it; so is a call
///   that is resumed. A hook that runs a tool twice uses twice as much.
/// - **Tokens and money** are reserved as an estimate of the request, and as many tokens as the request allows for the
///   answer, if it says so. What the provider reports takes its place. It may be more: the calls in flight may go
///   beyond the quota. A model call that was cut off keeps what it has reserved. One that the provider refused with a
///   status below 500 used nothing, nor did one without a connection; an empty answer used what the provider reports.
/// - **A store that fails** after an answer fails the model call. What the answer used is kept in the process, and
///   written before the next model call of the agent, which fails if the store still does. Should the process end
///   before that, what was reserved stays.
/// - **What cannot be counted does not happen**: for who is not known, where an argument is no amount, if the store
///   fails. A durable engine keeps no quotas: a call in it fails.
///
/// | it is used up | |
/// |---|---|
/// | by calls, tokens, money | the call [ends](QuotaExit::End) with a text that names the quota, or fails |
/// | by tool calls, amounts | the tool does not run, and the model reads why |
///
/// The texts have the name and the reason of the quota, and until when it is used up, but not how much others used.
///
/// It is inherited. Its priority is 200: inside of hooks that retry, so that each attempt is counted. Clones are one
/// hook.
///
/// ```
/// use hooks_agent::builtin::limit::{Per, Quota, Quotas, Within};
/// use hooks_agent::prelude::*;
/// use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// let mails = Quota::tool_calls("mails", 1).tools(["mail"]).per(Per::User).within(Within::Month);
/// let quotas = Quotas::builder().quota(mails.reason("one mail a month")).build()?;
/// let mail = FunctionTool::new("mail", "Sends a mail.", async |_: Value| "sent");
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "mail", json!({})).into(),
/// #     }
/// # });
/// // `model` sends a mail.
/// let agent = ReActAgent::builder("clerk").model(model).tool(mail).hook(quotas).build()?;
/// let ada = || CallOptions::new().user("ada");
/// assert_eq!(agent.call_with(ada(), "Write to Bob").await?.text(), "sent");
/// let second = agent.call_with(ada(), "Write to Bob again").await?;
/// assert!(second.text().starts_with("the quota \"mails\" of 1 in a month is used up until "));
/// assert!(second.text().ends_with(": one mail a month"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct Quotas {
    pub(super) inner: Arc<Inner>,
}

/// What clones share.
pub(super) struct Inner {
    pub(super) quotas: Vec<Checked>,
    pub(super) prices: Option<PriceTable>,
    pub(super) exit: QuotaExit,
    /// The names of the quotas, by which two hooks of one agent that count the same are found.
    pub(super) counter: String,
    pub(super) unsettled: Unsettled,
}

impl Inner {
    /// Returns what tokens of a model cost.
    pub(super) fn cost(&self, model: &str, input: u64, output: u64) -> Result<u64, String> {
        let cost = self.prices.as_ref().and_then(|prices| prices.cost(model, input, output));
        cost.ok_or_else(|| {
            format!("the model `{model}` has no price, which a quota of money needs")
        })
    }

    /// Returns what people and the model read, if the quota is one of these.
    fn text(&self, exceeded: &QuotaExceeded) -> Option<String> {
        let quota = self.quotas.iter().find(|quota| quota.stored == exceeded.quota)?;
        Some(quota.text(exceeded))
    }
}

impl Quotas {
    /// The priority: inside of hooks that retry.
    pub const PRIORITY: i32 = 200;

    /// Creates a builder without quotas.
    pub fn builder() -> QuotasBuilder {
        QuotasBuilder::new()
    }

    /// Returns what a model call reserves.
    fn reserved(
        &self,
        cx: &CallContext,
        model: &str,
        request: &ChatRequest,
    ) -> Result<Vec<(usize, Reservation)>, String> {
        let of_models = self.inner.quotas.iter().enumerate().filter(|(_, it)| it.is_of_models());
        let (input, output) = (request.estimate_tokens(), request.options.max_tokens);
        let output = u64::from(output.unwrap_or_default());
        let mut all = Vec::new();
        for (index, quota) in of_models {
            let amount = match quota.over {
                Over::Money => self.inner.cost(model, input, output)?,
                _ => input.saturating_add(output),
            };
            all.extend(quota.of_call(cx, amount)?.map(|it| (index, it)));
        }
        Ok(all)
    }

    /// Logs that a quota is used up, and returns what the reply says, unless the call fails.
    fn used_up(&self, cx: &CallContext, exceeded: &QuotaExceeded) -> Option<String> {
        log(cx, exceeded);
        let text = || self.inner.text(exceeded).unwrap_or_else(|| exceeded.to_string());
        (self.inner.exit == QuotaExit::End).then(text)
    }

    fn around_of(&self) -> AroundMask {
        let of = |is_of: fn(&Checked) -> bool, mask| {
            if self.inner.quotas.iter().any(is_of) { mask } else { AroundMask::NONE }
        };
        of(Checked::is_of_models, AroundMask::MODEL_CALL)
            | of(Checked::is_of_tools, AroundMask::TOOL_CALL)
    }
}

fn log(cx: &CallContext, exceeded: &QuotaExceeded) {
    let QuotaExceeded { quota, subject, used, amount, most, .. } = exceeded;
    let agent = cx.agent_name();
    tracing::warn!(
        target: "hooks_agent::quotas", agent, %quota, %subject, used, amount, most, "a quota is used up"
    );
}

#[agent_hook(
    priority = Quotas::PRIORITY,
    role = HookRole::Guards,
    inherit,
    always,
    around = self.around_of(),
    counter = |hook: &Self| Some(hook.inner.counter.clone()),
    needs_login = self.inner.quotas.iter().any(Checked::needs_login)
)]
impl Quotas {
    async fn pre_call(&self, event: &PreCall<'_>) -> HookResult<Flow> {
        let cx = event.context();
        // Calls of sub-agents are counted as what their caller does.
        if cx.owner_call().run_id() != cx.run_id() {
            return Ok(Flow::Continue);
        }
        let mut wanted = Vec::new();
        if !event.resumes() {
            let key: Arc<str> = RunId::random().to_string().into();
            for quota in self.inner.quotas.iter().filter(|quota| quota.over == Over::Calls) {
                wanted.extend(quota.of_call(cx, 1)?.map(|it| it.with_key(key.clone())));
            }
        }
        // Also says whether there is a place to count.
        match cx.reserve(wanted).await {
            Err(StoreError::Quota(exceeded)) => match self.used_up(cx, &exceeded) {
                Some(text) => {
                    let mut reply = Msg::assistant(cx.agent_name(), text);
                    reply.reason = Some(GenerateReason::LimitReached);
                    Ok(event.answer(reply))
                }
                None => Err(exceeded.into()),
            },
            reserved => {
                reserved?;
                Ok(Flow::Continue)
            }
        }
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let cx = call.context().clone();
        let owner = cx.owner_call();
        let all = self.reserved(&cx, call.model_name(), call.request());
        let mut all = all.map_err(|why| next.fail(why))?;
        if all.is_empty() {
            return next.run(call.into_request()).await;
        }
        let (calls, before) = (ModelCalls::of(&cx), cx.models_asked());
        let key = calls.key(before);
        for (_, it) in &mut all {
            it.key = key.clone();
        }
        let wanted = all.iter().map(|(_, it)| it.clone()).collect();
        self.inner.unsettled.write_kept(owner).await.map_err(|error| next.fail(error))?;
        match owner.reserve(wanted).await {
            Err(StoreError::Quota(exceeded)) => {
                return match self.used_up(&cx, &exceeded) {
                    Some(text) => {
                        Ok(ModelAnswer::in_place("Quotas", text, GenerateReason::LimitReached))
                    }
                    None => Err(next.fail(exceeded)),
                };
            }
            reserved => reserved.map_err(|error| next.fail(error))?,
        }
        let reserved = Reserved::new(self.inner.clone(), owner.clone(), all, calls);
        let request = call.request().clone();
        let ended = next.run(call.into_request()).await;
        let asked = cx.models_asked() - before;
        let reserved = if asked > 1 { reserved.leave_shared() } else { reserved };
        match ended {
            Ok(answer) if answer.reason().is_none() => Ok(reserved.settle(answer, &request)),
            // A hook answered in place of what a model said, or did not take it.
            Ok(answer) if asked > 0 => Ok(answer),
            // No model has read the request.
            Ok(answer) => {
                reserved.give_back().await.map_err(|error| next.fail(error))?;
                Ok(answer)
            }
            Err(error) => {
                let counted = reserved.fail(&error, &request, asked).await;
                counted.map_err(|error| next.fail(error))?;
                Err(error)
            }
        }
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let (inner, cx) = (self.inner.clone(), call.context().clone());
        let of_call = cx.clone();
        let tool_use = call.tool_use().clone();
        let of_tools = |(_, quota): &(usize, &Checked)| {
            quota.is_of_tools() && quota.is_about(call.agent(), &tool_use.name)
        };
        let about: Vec<_> =
            inner.quotas.iter().enumerate().filter(of_tools).map(|(index, _)| index).collect();
        let name = tool_use.name.clone();
        let reserve = move |running: &ToolUse| {
            let mut wanted = Vec::new();
            for (index, quota) in inner.quotas.iter().enumerate() {
                // A hook that makes another tool call of it is the program's.
                let is_about = if running.name == name {
                    about.contains(&index)
                } else {
                    quota.is_of_tools() && quota.may_be_about(&running.name)
                };
                if is_about {
                    wanted.extend(quota.of_tool_call(&cx, running)?);
                }
            }
            Ok(wanted)
        };
        match next.run_reserved(call.into_tool_use(), reserve).await {
            Err(ToolError::Quota(exceeded)) => match self.inner.text(&exceeded) {
                Some(text) => {
                    log(&of_call, &exceeded);
                    Ok(ToolResult::error(&tool_use, text))
                }
                None => Err(ToolError::Quota(exceeded)),
            },
            ended => ended,
        }
    }
}

impl fmt::Debug for Quotas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.inner.quotas.iter().map(|quota| &quota.name).collect();
        f.debug_struct("Quotas").field("quotas", &names).finish_non_exhaustive()
    }
}
