//! The hook that goes by rules.

use std::fmt;
use std::sync::Arc;

use hooks_agent_core::agent::Agent;
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::{EventKind, Flow, PostActing, PostReasoning, PreActing, PreCall};
use hooks_agent_core::hook::{AroundMask, NextTool, ToolCall, priority};
use hooks_agent_core::message::{PendingReason, ToolResult, ToolUse};
use hooks_agent_core::tool::ToolError;
use hooks_core::{HookResult, HookRole};
use jiff::tz::TimeZone;

use crate::hook::builder::RulesBuilder;
use crate::hook::judged::Case;
use crate::hook::state::State;
use crate::hook::tools::{Known, Tools};
use crate::past::Ran;
use crate::rule::{Rule, Stage, Then};

/// Goes by rules about tool calls: which run, which people are asked about, and which do not run, by conditions over
/// the arguments, the user, the agent, the time, and what ran before in the thread.
///
/// Conditions are in CEL, the Common Expression Language; [the guide] lists the names and functions.
///
/// - **All that match count.** The strictest holds: [`Deny`](Then::Deny) before [`Ask`](Then::Ask) before
///   [`Warn`](Then::Warn) before [`Allow`](Then::Allow). The [default](RulesBuilder::otherwise) holds for tool calls
///   that no rule matches.
/// - **When.** People are asked before anything of the answer runs, with all others who ask. Each rule is judged again
///   before the tool, and right as it starts, with what it really gets: arguments that people or hooks made others
///   of, and those that only the tool receives. By then a rule can only be stricter: what people did not let run for
///   this rule does not run.
/// - **What cannot be decided.** A rule whose condition fails, as by an argument that is not there, holds: it denies,
///   asks, or warns. One that allows does not match. The reason says so.
/// - **At once.** Where several tools run at once, what a rule asks of the thread cannot be decided.
/// - **Arguments.** Those that do not fit the schema of the tool are refused before, if any rule is about it.
/// - **Reasons** have the name and the reason of the rule, and no values but those that it
///   [shows](crate::ToolRule::show).
///
/// It is inherited: rules hold in sub-agents too. What ran is kept with the thread of the agent whose hook it is, as the
/// thread value [`rules`](RulesBuilder::counter), if a rule asks for it.
///
/// Its priority is 25: after the hooks that ask at [`priority::AUTH`], before
/// [`RuleOfTwo`](https://docs.rs/hooks-agent/latest/hooks_agent/builtin/guard/struct.RuleOfTwo.html). Clones share what they know of tools.
///
/// [the guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/rules/index.html
///
/// ```
/// use hooks_agent::builtin::guard::{Rules, Then, ToolRule};
/// use hooks_agent::prelude::*;
/// use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// let large = ToolRule::new("large payments", Then::Deny)
///     .tools(["pay"])
///     .when("args.euros > 1000 && !(args.to in vars.payees)")
///     .reason("payments above 1,000 euros go to known payees alone");
/// let rules = Rules::builder().rule(large).var("payees", json!(["Bakery"])).build()?;
/// let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "pay", json!({ "to": "Eve", "euros": 5000 })).into(),
/// #     }
/// # });
/// // `model` pays 5,000 euros to Eve.
/// let agent = ReActAgent::builder("clerk").model(model).tool(pay).hook(rules).build()?;
/// assert_eq!(
///     agent.call("Pay the invoice").await?.text(),
///     "the rule \"large payments\" denies it: payments above 1,000 euros go to known payees alone"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct Rules {
    pub(super) inner: Arc<Inner>,
}

/// What clones share.
pub(super) struct Inner {
    pub(super) rules: Vec<Arc<Rule>>,
    pub(super) default: Then,
    pub(super) zone: TimeZone,
    pub(super) counter: String,
    pub(super) reads_past: bool,
    pub(super) tools: Tools,
}

impl Rules {
    /// The name of the thread value in which is kept what ran.
    pub(super) const COUNTER: &'static str = "rules";

    /// Creates a builder without rules.
    pub fn builder() -> RulesBuilder {
        RulesBuilder::new()
    }

    fn state(&self, cx: &CallContext) -> Arc<State> {
        cx.hook_state(Arc::as_ptr(&self.inner).addr())
    }

    fn known(&self, agent: &dyn Agent, tool: &str) -> Arc<Known> {
        self.inner.tools.of(agent, tool, &self.inner.rules)
    }

    /// Returns whether any rule, or the default, may decide about calls of a tool.
    fn speaks_of(&self, known: &Known) -> bool {
        !known.rules.is_empty() || self.inner.default != Then::Allow
    }

    /// Checks a tool call right as the tool starts, and counts it.
    fn check(&self, case: &Case<'_>, known: &Known) -> Result<(), String> {
        case.fits()?;
        let judged = case.judge(&self.inner);
        if let Some(why) = judged.denied {
            return Err(why);
        }
        let unanswered =
            judged.asks.iter().find(|ask| !case.of_call.is_answered(case.call, &ask.text));
        if let Some(ask) = unanswered {
            return Err(format!("nobody was asked about this call: {}", ask.text));
        }
        warn(case.cx, case.call, &judged.warnings);
        self.start(case.cx, known, case.call)
    }

    fn start(&self, cx: &CallContext, known: &Known, call: &ToolUse) -> Result<(), String> {
        if !self.inner.reads_past {
            return Ok(());
        }
        self.ran(known, call)
            .start(cx)
            .map_err(|error| format!("what runs cannot be counted: {error}"))
    }

    fn ran<'a>(&'a self, known: &'a Known, call: &'a ToolUse) -> Ran<'a> {
        Ran { counter: &self.inner.counter, tool: &call.name, server: known.server.as_deref() }
    }
}

impl Inner {
    /// Returns whether other tool calls may run at the same time, of this call or of those that it is part of.
    pub(super) fn is_at_once(&self, cx: &CallContext) -> bool {
        let (key, owner) = (std::ptr::from_ref(self).addr(), cx.owner_call().run_id());
        let mut next = Some(cx);
        while let Some(call) = next {
            if call.hook_state::<State>(key).is_at_once(call) {
                return true;
            }
            // What runs beside the owner has threads of its own.
            next = call.parent().filter(|_| call.run_id() != owner);
        }
        false
    }
}

fn warn(cx: &CallContext, call: &ToolUse, warnings: &[String]) {
    for text in warnings {
        let (agent, tool) = (cx.agent_name(), call.name.as_str());
        tracing::warn!(target: "hooks_agent::rules", agent, tool, "{text}");
    }
}

#[agent_hook(
    priority = priority::AUTH + 5,
    role = HookRole::Guards,
    inherit,
    always,
    needs_login = self.inner.rules.iter().any(|rule| rule.needs_login),
    tool_names = |hook: &Self| {
        hook.inner.rules.iter().flat_map(|rule| rule.tool_names.iter().cloned()).collect()
    },
    counter = |hook: &Self| hook.inner.reads_past.then(|| hook.inner.counter.clone()),
    shadow_parts = |hook: &Self| {
        hook.inner.rules.iter().filter_map(|rule| rule.shadow.clone()).collect()
    },
    // Before a tool call it asks and refuses, and around it it refuses.
    answers = EventKind::PostReasoning,
    answers_around = AroundMask::NONE
)]
impl Rules {
    /// Records the tool calls that the caller ran: not those that it answers in place of a person, nor any that nobody
    /// asked for.
    fn pre_call(&self, event: &mut PreCall<'_>) -> HookResult {
        if !self.inner.reads_past {
            return Ok(());
        }
        let (cx, agent) = (event.context(), event.agent());
        let mut pending = cx.memory().map(|memory| memory.pending()).unwrap_or_default();
        pending.retain(|pending| !matches!(pending.why, PendingReason::Permission(_)));
        for (call, result) in event.caller_results_mut() {
            if pending.iter().any(|pending| pending.id == call.id && pending.call.name == call.name)
            {
                let known = self.known(agent, &call.name);
                let ran = self.ran(&known, &call);
                ran.start(cx)?;
                ran.end(cx, &call, result)?;
            }
        }
        Ok(())
    }

    fn post_reasoning(&self, event: &PostReasoning<'_>) -> HookResult<Flow> {
        let (cx, agent) = (event.context(), event.agent());
        let state = self.state(cx);
        state.begin(event.message(), agent);
        let (mut asked, mut joined) = (Vec::new(), Vec::new());
        for (index, call) in event.message().tool_uses().enumerate() {
            let known = self.known(agent, &call.name);
            let case = Case::new(cx, &state, &known, call, Stage::Foreseen).later(index > 0);
            if call.invalid_input.is_some() || !self.speaks_of(&known) || case.fits().is_err() {
                continue;
            }
            let judged = case.judge(&self.inner);
            // It is refused before it runs, whatever people say.
            if judged.denied.is_some() {
                continue;
            }
            joined.extend(judged.warnings.into_iter().map(|text| (call.id.clone(), text)));
            asked.extend(judged.asks.iter().map(|ask| (call.id.clone(), ask.question())));
        }
        Ok(event.ask_and_join(asked, joined)?)
    }

    fn pre_acting(&self, event: &PreActing<'_>) -> Flow {
        let (cx, call) = (event.context(), event.tool_use());
        let known = self.known(event.agent(), &call.name);
        if call.invalid_input.is_some() || !self.speaks_of(&known) {
            return Flow::Continue;
        }
        let state = self.state(cx);
        state.next(event.agent());
        let case = Case::new(cx, &state, &known, call, Stage::Before);
        if let Err(why) = case.fits() {
            return event.refuse(why);
        }
        let judged = case.judge(&self.inner);
        if let Some(why) = judged.denied {
            return event.refuse(why);
        }
        for ask in &judged.asks {
            // It goes on if those who may have answered this.
            let flow = event.ask_with(ask.question());
            if !matches!(flow, Flow::Continue) {
                return flow;
            }
        }
        state.answer(call, judged.asks.into_iter().map(|ask| ask.text).collect());
        Flow::Continue
    }

    /// Records what has finished.
    fn post_acting(&self, event: &PostActing<'_>) -> HookResult {
        let (cx, call) = (event.context(), event.tool_use());
        self.state(cx).forget(&call.id);
        if self.inner.reads_past && event.has_run() {
            let known = self.known(event.agent(), &call.name);
            self.ran(&known, call).end(cx, call, event.tool_result())?;
        }
        Ok(())
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let name = call.tool_use().name.clone();
        let (hook, cx, state) = (self.clone(), call.context().clone(), self.state(call.context()));
        let known = self.known(call.agent(), &name);
        let check = move |running: &ToolUse| {
            // A hook that makes another tool call of it is the program's.
            let other = (running.name != name)
                .then(|| hook.inner.tools.by_name(cx.agent_id(), &running.name, &hook.inner.rules));
            let known = other.as_ref().unwrap_or(&known);
            if !hook.speaks_of(known) {
                return hook.start(&cx, known, running);
            }
            hook.check(&Case::new(&cx, &state, known, running, Stage::Around), known)
        };
        next.run_checked(call.into_tool_use(), check).await
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.inner.rules.iter().map(|rule| &rule.name).collect();
        f.debug_struct("Rules")
            .field("rules", &names)
            .field("default", &self.inner.default)
            .finish_non_exhaustive()
    }
}
