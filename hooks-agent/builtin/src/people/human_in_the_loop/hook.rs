//! The hook that asks people about tool calls.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use hooks_core::{HookResult, HookRole};

use crate::people::human_in_the_loop::gate::Gate;
use crate::people::human_in_the_loop::shown::Shown;
use crate::people::human_in_the_loop::text::PREFIX;
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::{EventKind, Flow, PostActing, PostReasoning, PreActing};
use hooks_agent_core::hook::{AroundMask, NextTool, ToolCall, priority};
use hooks_agent_core::message::{ToolResult, ToolUse, Wording};
use hooks_agent_core::tool::ToolError;

/// Asks people about tool calls before anything of the answer runs. The questions wait in the
/// [store](hooks_agent_core::store::Store::waiting) of the agent, with a store outside of the process for as long
/// as it takes: the process may end meanwhile, and another one goes on.
///
/// A person [approves](hooks_agent_core::store::Decision::Approve) a tool call,
/// [edits](hooks_agent_core::store::Decision::Edit) its arguments, [rejects](hooks_agent_core::store::Decision::Reject) it,
/// or [responds](hooks_agent_core::store::Decision::Respond) in its place;
/// [`CallOptions::decide`](hooks_agent_core::call::CallOptions::decide) and
/// [`Store::decide`](hooks_agent_core::store::Store::decide) take the decision by the
/// [id](hooks_agent_core::store::Waiting::id) of the question. All questions of an answer are decided before its
/// first tool runs.
///
/// What runs is what was approved, or the arguments that the person gave: a tool call that another hook
/// changes afterwards fails, whatever the priority of that hook, as does one that a hook turns into a
/// tool call which needs a person. [Hidden](hooks_agent_core::message::ToolUse::hide) arguments are excepted: the
/// program adds them, and people do not see them. A call whose arguments are no JSON is not asked
/// about, because no tool can run it.
///
/// An answer to another hook is none to this one. A call that people let run for others alone, or to which they gave
/// arguments of their own since, is asked about right before it runs.
///
/// The model's message stays as it is; [`ran`](hooks_agent_core::message::ToolResult::ran) of the result shows what
/// a person made of it, and the model reads it.
///
/// | setting | default |
/// |---|---|
/// | tools: [`ask`](Self::ask), [`ask_with`](Self::ask_with), [`ask_all`](Self::ask_all), [`ask_every_tool`](Self::ask_every_tool) | none |
/// | decisions, text, predicate, expiry and approvers of a tool: [`Gate`] | all four, the default text, every call, never, everybody |
/// | [`wording`](Self::wording) | [`Wording::LangChain`] |
/// | [`description_prefix`](Self::description_prefix) | `Tool execution requires approval` |
///
/// Its priority is [`priority::AUTH`]: after hooks of [`priority::SECURITY`], which redact what people
/// and the store would see. It is inherited: it guards tools of these names in sub-agents too, whose
/// questions are in the list of the agent that was called, with [their path](hooks_agent_core::store::Waiting::agents).
///
/// ```
/// use hooks_agent::builtin::people::HumanInTheLoop;
/// use hooks_agent::message::GenerateReason;
/// use hooks_agent::prelude::*;
/// use hooks_agent::store::{Decision, Filter, Store};
/// use hooks_agent::thread::MemoryStore;
/// # use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "pay", json!({ "euros": 12 })).into(),
/// #     }
/// # });
/// let pay = FunctionTool::new("pay", "Pays.", async |input: Value| format!("paid {input}"));
/// let store = MemoryStore::new(); // `SqliteStore::open("agents.db").await?` outlives the process.
/// let agent = ReActAgent::builder("clerk")
///     .model(model)
///     .tool(pay)
///     .store(store.clone())
///     .hook(HumanInTheLoop::new().ask("pay"))
///     .build()?;
/// let on_ada = || CallOptions::new().thread("ada");
/// let reply = agent.call_with(on_ada(), "Pay the baker").await?;
/// assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
///
/// // Another process, another day.
/// let waiting = store.waiting(Filter::agent("clerk")).await?;
/// assert_eq!(waiting[0].arguments, json!({ "euros": 12 }));
/// let decided = on_ada().decide(waiting[0].id.clone(), Decision::Approve);
/// assert_eq!(agent.resume(decided).await?.text(), r#"paid {"euros":12}"#);
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct HumanInTheLoop {
    gates: Arc<Gates>,
}

#[derive(Clone)]
struct Gates {
    named: BTreeMap<String, Gate>,
    others: Option<Gate>,
    wording: Wording,
    prefix: Arc<str>,
}

impl Gates {
    fn have_approvers(&self) -> bool {
        self.named.values().chain(&self.others).any(Gate::has_approvers)
    }
}

impl Default for HumanInTheLoop {
    fn default() -> Self {
        Self::new()
    }
}

impl HumanInTheLoop {
    /// Creates a hook that asks about no tool.
    pub fn new() -> Self {
        let (named, wording) = (BTreeMap::new(), Wording::default());
        Self { gates: Arc::new(Gates { named, others: None, wording, prefix: PREFIX.into() }) }
    }

    /// Asks about every call of this tool, and allows every decision.
    pub fn ask(self, tool: impl Into<String>) -> Self {
        self.ask_with(tool, Gate::new())
    }

    /// Asks about calls of this tool as the gate says. A later gate of a tool replaces an earlier one.
    pub fn ask_with(mut self, tool: impl Into<String>, gate: Gate) -> Self {
        Arc::make_mut(&mut self.gates).named.insert(tool.into(), gate);
        self
    }

    /// Asks about every call of these tools, and allows every decision.
    pub fn ask_all(self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        tools.into_iter().fold(self, Self::ask)
    }

    /// Asks about calls of the tools that have no gate of their own, as this one says, also of tools
    /// that are added later.
    pub fn ask_every_tool(mut self, gate: Gate) -> Self {
        Arc::make_mut(&mut self.gates).others = Some(gate);
        self
    }

    /// Sets the words of the default text, and those in which the model reads a rejection.
    pub fn wording(mut self, wording: Wording) -> Self {
        Arc::make_mut(&mut self.gates).wording = wording;
        self
    }

    /// Sets the first line of the default text of [`Wording::LangChain`].
    pub fn description_prefix(mut self, prefix: impl Into<Arc<str>>) -> Self {
        Arc::make_mut(&mut self.gates).prefix = prefix.into();
        self
    }

    /// Returns the gate of a tool.
    fn gate(&self, tool: &str) -> Option<&Gate> {
        self.gates.named.get(tool).or(self.gates.others.as_ref())
    }

    /// Returns the gate of a tool call, if a person is to be asked about it.
    fn asking_gate(&self, call: &ToolUse, cx: &CallContext) -> Option<&Gate> {
        self.gate(&call.name).filter(|gate| gate.asks(call, cx))
    }

    /// Returns what people let run in a call.
    fn shown(&self, cx: &CallContext) -> Arc<Shown> {
        cx.hook_state(Arc::as_ptr(&self.gates).addr())
    }

    /// Checks a tool call right before the tool starts.
    fn check(&self, running: &ToolUse, cx: &CallContext) -> Result<(), String> {
        match self.shown(cx).is_shown(running) {
            Some(false) => Err(DIFFERS.to_owned()),
            None if self.asking_gate(running, cx).is_some() => Err(not_asked(running)),
            Some(true) | None => Ok(()),
        }
    }
}

/// Why a tool call that a hook changed does not run.
const DIFFERS: &str = "it differs from the call that a person approved";

fn not_asked(call: &ToolUse) -> String {
    format!("nobody was asked about this call of `{}`", call.name)
}

#[agent_hook(
    priority = priority::AUTH,
    role = HookRole::Asks,
    inherit,
    always,
    needs_login = self.gates.have_approvers(),
    tool_names = |hook: &Self| hook.gates.named.keys().cloned().collect(),
    // Before a tool call it asks and refuses, and around it it refuses.
    answers = EventKind::PostReasoning,
    answers_around = AroundMask::NONE
)]
impl HumanInTheLoop {
    fn post_reasoning(&self, event: &PostReasoning<'_>) -> HookResult<Flow> {
        let calls = event.message().tool_uses().filter(|call| call.invalid_input.is_none());
        let asked: Vec<_> = calls
            .filter_map(|call| {
                let gate = self.asking_gate(call, event.context())?;
                let question = gate.question(call, self.gates.wording, &self.gates.prefix);
                Some((call.id.clone(), question))
            })
            .collect();
        Ok(if asked.is_empty() { Flow::Continue } else { event.ask(asked)? })
    }

    fn pre_acting(&self, event: &PreActing<'_>) -> Flow {
        let (cx, call) = (event.context(), event.tool_use());
        if call.invalid_input.is_some() || self.gate(&call.name).is_none() {
            return Flow::Continue;
        }
        // What other hooks asked about it, people answered for them.
        match event.own_decision() {
            Some(true) => self.shown(cx).add(call),
            Some(false) => return event.refuse(DIFFERS),
            None => {
                let Some(gate) = self.asking_gate(call, cx) else { return Flow::Continue };
                if !cx.is_confirmed(&call.id) {
                    return event.refuse(not_asked(call));
                }
                // People let it run for others, or gave other arguments since, or the question was lost.
                return event.ask_with(gate.question(call, self.gates.wording, &self.gates.prefix));
            }
        }
        Flow::Continue
    }

    fn post_acting(&self, event: &PostActing<'_>) {
        self.shown(event.context()).remove(&event.tool_use().id);
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let (hook, cx) = (self.clone(), call.context().clone());
        let check = move |running: &ToolUse| hook.check(running, &cx);
        next.run_checked(call.into_tool_use(), check).await
    }
}

impl fmt::Debug for HumanInTheLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Gates { named, others, wording, .. } = &*self.gates;
        f.debug_struct("HumanInTheLoop")
            .field("tools", named)
            .field("others", others)
            .field("wording", wording)
            .finish_non_exhaustive()
    }
}
