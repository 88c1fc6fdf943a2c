//! Registers event hooks at the methods of this agent.

use std::any::Any;
use std::ops::ControlFlow;
use std::sync::Arc;

use hooks_core::{BoxError, HookResult, RegistryError};

use crate::agent::AgentExt;
use crate::call::CallOptions;
use crate::error::AgentError;
use crate::event::{
    ActingChunk, Decided, ErrorPhase, EventKind, Flow, PostActing, PostReasoning, PostSummary,
    PreActing, PreReasoning, PreSummary, ReasoningChunk, Substitute, SummaryChunk,
};
use crate::hook::{
    AgentHook, DynAgentHook, EventPoints, Registration, ShadowCounts, Target, install_call,
    install_error, install_look, install_post, install_pre, login_of_class, message_of, no_flow,
    not_found, register_class, remove_by_name, remove_class, result_of,
};
use crate::react::agent::ReActAgent;
use crate::react::agent_tool::AgentTool;
use crate::react::around_hooks::install_around;
use crate::react::methods::{
    ReActAgentActingArgs, ReActAgentActingChunkArgs, ReActAgentReasoningArgs,
    ReActAgentReasoningChunkArgs, ReActAgentSummarizingArgs, ReActAgentSummaryChunkArgs,
    ReActAgentToolCallArgs,
};
use crate::round::{Acted, Control, JumpTo, Reasoned};
use crate::tool::ToolError;

impl ReActAgent {
    /// Adds an event hook, also while calls run. Running calls use it from their next step on, and
    /// in agents that they call from then on if it is [inherited](AgentHook::inherit). A step that
    /// has begun keeps its hooks: a hook added at `PreCall` does not receive `PostCall` of the call.
    ///
    /// Hooks of the same name are removed once the new one is registered. The tools of the hook are
    /// not added. If it counts where another hook of the agent does, calls fail with
    /// [`BuildError::SharedCounter`](crate::error::BuildError::SharedCounter).
    #[track_caller]
    pub fn register_agent_hook(&self, hook: impl AgentHook) {
        let replaced = self.event_hooks.replace(self, hook.__share());
        // Without the lock: a hook may use this agent when it is dropped.
        drop(replaced);
    }

    /// Returns the same agent with one more event hook, which runs in calls of the returned agent only:
    /// for a hook of one call. Memory, threads and the order of calls are shared.
    ///
    /// Hooks that are registered on one of the two later do not run in the other. A hook of the same
    /// name does not run in the returned agent. The tools of the hook are not added.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let model = ScriptedModel::new("counter", |request| request.messages.len().to_string());
    /// let agent = ReActAgent::builder("assistant").model(model).build()?;
    /// let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" - A."));
    /// assert_eq!(agent.with_agent_hook(sign).call("Go").await?.text(), "1 - A.");
    /// assert_eq!(agent.call("Go on").await?.text(), "3");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    #[track_caller]
    pub fn with_agent_hook(&self, hook: impl AgentHook) -> Self {
        let agent = self.fork();
        agent.register_agent_hook(hook);
        agent
    }

    /// Removes the event hooks of this name. Hooks of methods are another matter, also those of the
    /// same name.
    ///
    /// # Errors
    /// [`RegistryError::NotFound`] if there is none.
    pub fn remove_agent_hook(&self, name: &str) -> Result<(), RegistryError> {
        let removed = self.event_hooks.remove(self, name);
        // Those of `register_call_hook` are not in the list.
        let others = remove_by_name(self, name);
        if !removed.is_empty() || others > 0 { Ok(()) } else { Err(not_found(self, name)) }
    }

    /// Returns the name of an event hook that decides by who a user is, if the agent has one now, or one of the
    /// agents that are its tools, or a [source](crate::react::HookSource) chooses one, or one is of all agents of
    /// the type: what lets people decide needs a
    /// [login](AgentHook::needs_login) then.
    #[must_use]
    pub fn needs_login(&self) -> Option<String> {
        let chosen = self.with_chosen_hooks(&self.context(CallOptions::new()));
        let own = chosen.as_deref().unwrap_or(self).event_hooks.lock().needs_login();
        let tools = self.core.tools.iter();
        let agents = tools.filter_map(|tool| (&**tool as &dyn Any).downcast_ref::<AgentTool>());
        own.or_else(login_of_class::<Self>)
            .or_else(|| agents.map(AgentTool::agent).find_map(Self::needs_login))
    }

    /// Returns what the hooks of the agent that run [in shadow](crate::hook::AgentHookExt::in_shadow) would have done,
    /// by name: its own, and those that a [source](crate::react::HookSource) chooses now.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" - A."));
    /// let sign = sign.named("sign").in_shadow();
    /// let model = ScriptedModel::new("fixed", |_| "Done.");
    /// let agent = ReActAgent::builder("assistant").model(model).hook(sign.clone()).build()?;
    /// assert_eq!(agent.call("Go").await?.text(), "Done.");
    /// sign.caught_up().await;
    /// let (name, counts) = &agent.shadow_counts()[0];
    /// assert_eq!((name.as_str(), counts.runs, counts.changed), ("sign", 1, 1));
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn shadow_counts(&self) -> Vec<(String, ShadowCounts)> {
        let chosen = self.with_chosen_hooks(&self.context(CallOptions::new()));
        chosen.as_deref().unwrap_or(self).event_hooks.lock().shadow_counts()
    }

    /// Adds an event hook to every agent of this type in the process, also while calls run: a call
    /// uses it from its next step on. It runs after the hooks of the agent itself.
    ///
    /// A class hook of the same name is removed once the new one is registered. The tools of the hook
    /// are not added. [`#[agent_hook(class)]`](macro@crate::agent_hook) does it when the program is
    /// linked; `<dyn Agent>::register_class_agent_hook` of [`Agent`](crate::agent::Agent), for
    /// agents of every type.
    ///
    /// ```standalone_crate
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" (ai)"));
    /// ReActAgent::register_class_agent_hook(sign.named("sign"));
    /// let model = ScriptedModel::new("fixed", |_| "Done.");
    /// let agent = ReActAgent::builder("assistant").model(model).build()?;
    /// assert_eq!(agent.call("Go").await?.text(), "Done. (ai)");
    ///
    /// ReActAgent::remove_class_agent_hook("sign")?;
    /// assert_eq!(agent.call("Go").await?.text(), "Done.");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    #[track_caller]
    pub fn register_class_agent_hook(hook: impl AgentHook) {
        register_class::<Self>(&hook.__share());
    }

    /// Removes the class hook of this name, also one of `#[agent_hook(class)]`.
    ///
    /// # Errors
    /// [`RegistryError::NotFound`] if there is none.
    pub fn remove_class_agent_hook(name: &str) -> Result<(), RegistryError> {
        remove_class::<Self>(name)
    }
}

#[diagnostic::do_not_recommend]
impl EventPoints for ReActAgent {
    fn install(
        target: &impl Target<Self>,
        hook: &Arc<dyn DynAgentHook>,
        registration: &Registration,
    ) {
        install_call!(ReActAgent, target, hook, registration, knows_phases: true);
        install_reasoning(target, hook, registration);
        install_acting(target, hook, registration);
        install_summary(target, hook, registration);
        install_around(target, hook, registration);
    }
}

fn install_reasoning(
    target: &impl Target<ReActAgent>,
    hook: &Arc<dyn DynAgentHook>,
    registration: &Registration,
) {
    install_pre!(target, hook, registration, PreReasoning at ReActAgent::PRE_REASONING,
        |agent: &ReActAgent, args: &mut ReActAgentReasoningArgs|
        PreReasoning::new(agent, &args.cx, &mut args.input), before_reasoning);
    install_look!(target, hook, registration, ReasoningChunk at ReActAgent::PRE_REASONING_CHUNK,
        |agent: &ReActAgent, args: &ReActAgentReasoningChunkArgs|
        ReasoningChunk::new(agent, &args.cx, &args.incremental, &args.accumulated));
    install_post!(target, hook, registration, PostReasoning at ReActAgent::POST_REASONING,
        |agent: &ReActAgent, args: &ReActAgentReasoningArgs, output: &mut Reasoned|
        PostReasoning::new(agent, &args.cx, output),
        |flow, output: &mut Reasoned| decide(flow, &mut output.control, EventKind::PostReasoning));
    install_error!(target, hook, registration, ReActAgent::ERROR_REASONING,
        |agent: &ReActAgent, args: &ReActAgentReasoningArgs, error: &mut AgentError|
        ErrorPhase::Reasoning, unless false,
        |substitute| reasoned(substitute, &args.input.model));
}

fn install_acting(
    target: &impl Target<ReActAgent>,
    hook: &Arc<dyn DynAgentHook>,
    registration: &Registration,
) {
    install_pre!(target, hook, registration, PreActing at ReActAgent::PRE_ACTING,
        |agent: &ReActAgent, args: &mut ReActAgentActingArgs|
        PreActing::new(agent, &args.cx, &mut args.input), before_acting);
    install_look!(target, hook, registration, ActingChunk at ReActAgent::PRE_ACTING_CHUNK,
        |agent: &ReActAgent, args: &ReActAgentActingChunkArgs|
        ActingChunk::new(agent, &args.cx, &args.call, &args.chunk));
    install_post!(target, hook, registration, PostActing at ReActAgent::POST_ACTING,
        |agent: &ReActAgent, args: &ReActAgentActingArgs, output: &mut Acted|
        PostActing::new(agent, &args.cx, output),
        |flow, output: &mut Acted| decide(flow, &mut output.control, EventKind::PostActing));
    install_error!(target, hook, registration, ReActAgent::ERROR_ACTING,
    |agent: &ReActAgent, args: &ReActAgentActingArgs, error: &mut AgentError|
    ErrorPhase::Acting(&args.input.call), unless false,
    |substitute| {
        result_of(substitute).map(|result| Acted::new(args.input.call.clone(), result))
    });
    install_error!(target, hook, registration, ReActAgent::ERROR_TOOL_CALL,
        |agent: &ReActAgent, args: &ReActAgentToolCallArgs, error: &mut ToolError|
        ErrorPhase::Acting(&args.call), unless error.ends_call(), result_of);
}

fn install_summary(
    target: &impl Target<ReActAgent>,
    hook: &Arc<dyn DynAgentHook>,
    registration: &Registration,
) {
    install_pre!(target, hook, registration, PreSummary at ReActAgent::PRE_SUMMARIZING,
        |agent: &ReActAgent, args: &mut ReActAgentSummarizingArgs|
        PreSummary::new(agent, &args.cx, &mut args.input), before_summary);
    install_look!(target, hook, registration, SummaryChunk at ReActAgent::PRE_SUMMARY_CHUNK,
        |agent: &ReActAgent, args: &ReActAgentSummaryChunkArgs|
        SummaryChunk::new(agent, &args.cx, &args.incremental, &args.accumulated));
    install_post!(target, hook, registration, PostSummary at ReActAgent::POST_SUMMARIZING,
        |agent: &ReActAgent, args: &ReActAgentSummarizingArgs, output: &mut Reasoned|
        PostSummary::new(agent, &args.cx, output),
        |flow, _: &mut Reasoned| no_flow(flow, EventKind::PostSummary));
    install_error!(target, hook, registration, ReActAgent::ERROR_SUMMARIZING,
        |agent: &ReActAgent, args: &ReActAgentSummarizingArgs, error: &mut AgentError|
        ErrorPhase::Summary, unless false,
        |substitute| reasoned(substitute, &args.input.model));
}

fn before_reasoning(
    flow: Flow,
    args: &mut ReActAgentReasoningArgs,
) -> HookResult<ControlFlow<Reasoned>> {
    let input = &mut args.input;
    match flow.decided() {
        Some(Decided::Answer(msg)) => {
            Ok(ControlFlow::Break(answer(msg, &input.model, &mut input.control)))
        }
        decided => decide_on(decided, &mut input.control, EventKind::PreReasoning),
    }
}

fn before_summary(
    flow: Flow,
    args: &mut ReActAgentSummarizingArgs,
) -> HookResult<ControlFlow<Reasoned>> {
    let input = &mut args.input;
    match flow.decided() {
        Some(Decided::Answer(msg)) => {
            Ok(ControlFlow::Break(answer(msg, &input.model, &mut input.control)))
        }
        decided => decide_on(decided, &mut input.control, EventKind::PreSummary),
    }
}

fn before_acting(flow: Flow, args: &mut ReActAgentActingArgs) -> HookResult<ControlFlow<Acted>> {
    let input = &mut args.input;
    match flow.decided() {
        Some(Decided::AnswerTool(result, answered_by)) => {
            let control = std::mem::take(&mut input.control);
            let acted = Acted::new(input.call.clone(), result);
            let answered_by = answered_by.map(String::into_boxed_str);
            Ok(ControlFlow::Break(Acted { control, answered_by, ..acted }))
        }
        decided => decide_on(decided, &mut input.control, EventKind::PreActing),
    }
}

/// Returns the output of a round that a hook answered. Earlier decisions of hooks stay in effect.
fn answer(msg: crate::message::Msg, model: &Arc<str>, control: &mut Control) -> Reasoned {
    let control = std::mem::take(control);
    Reasoned { control, ..Reasoned::new(model.clone(), msg) }
}

fn reasoned(substitute: Substitute, model: &Arc<str>) -> HookResult<Reasoned> {
    let message = message_of(substitute)?;
    Ok(answer(message, model, &mut Control::default()))
}

fn decide(flow: Flow, control: &mut Control, kind: EventKind) -> HookResult {
    decide_on::<()>(flow.decided(), control, kind).map(drop)
}

/// Returns whether hooks of an event may jump to this target.
fn allows(kind: EventKind, to: JumpTo) -> bool {
    match kind {
        EventKind::PreReasoning => to != JumpTo::Model,
        EventKind::PreSummary => false,
        _ => to != JumpTo::Tools,
    }
}

fn decide_on<T>(
    decided: Option<Decided>,
    control: &mut Control,
    kind: EventKind,
) -> Result<ControlFlow<T>, BoxError> {
    match decided {
        None => {}
        Some(Decided::Stop(hook)) => control.stop_by(hook),
        Some(Decided::AskPeople(asked)) if kind == EventKind::PostReasoning => {
            control.ask_people(asked);
        }
        Some(Decided::Ask(asker, question)) if kind == EventKind::PreActing => {
            control.ask(asker);
            control.ask_question(question);
        }
        Some(Decided::Jump(jump)) if allows(kind, jump.to) => control.jump = Some(Box::new(jump)),
        Some(_) => return Err(Decided::misplaced(kind)),
    }
    Ok(ControlFlow::Continue(()))
}
