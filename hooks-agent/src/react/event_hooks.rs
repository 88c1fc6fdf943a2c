//! Registers event hooks at the methods of this agent.

use std::ops::ControlFlow;
use std::panic::Location;
use std::sync::Arc;

use hooks_core::{BoxError, HookResult, Hookable, RegistryError};

use crate::error::AgentError;
use crate::event::{
    ActingChunk, Decided, ErrorPhase, EventKind, Flow, PostActing, PostReasoning, PostSummary,
    PreActing, PreReasoning, PreSummary, ReasoningChunk, Substitute, SummaryChunk,
};
use crate::hook::{
    AgentHook, EventPoints, Place, install_call, install_error, install_look, install_post,
    install_pre, message_of, no_flow, result_of,
};
use crate::react::agent::ReActAgent;
use crate::react::methods::{
    ReActAgentActingArgs, ReActAgentActingChunkArgs, ReActAgentReasoningArgs,
    ReActAgentReasoningChunkArgs, ReActAgentSummarizingArgs, ReActAgentSummaryChunkArgs,
    ReActAgentToolCallArgs,
};
use crate::round::{Acted, Control, JumpTo, Reasoned};
use crate::tool::ToolError;

/// The events and their hook types.
const EVENT_POINTS: [(EventKind, &str); 17] = [
    (EventKind::PreCall, "pre_reply"),
    (EventKind::PostCall, "post_reply"),
    (EventKind::PreReasoning, "pre_reasoning"),
    (EventKind::ReasoningChunk, "pre_reasoning_chunk"),
    (EventKind::PostReasoning, "post_reasoning"),
    (EventKind::PreActing, "pre_acting"),
    (EventKind::ActingChunk, "pre_acting_chunk"),
    (EventKind::PostActing, "post_acting"),
    (EventKind::PreSummary, "pre_summarizing"),
    (EventKind::SummaryChunk, "pre_summary_chunk"),
    (EventKind::PostSummary, "post_summarizing"),
    (EventKind::Error, "error_reply"),
    (EventKind::Error, "error_reasoning"),
    (EventKind::Error, "error_acting"),
    (EventKind::Error, "error_tool_call"),
    (EventKind::Error, "error_summarizing"),
    (EventKind::Settled, "pre_settled"),
];

impl ReActAgent {
    /// Adds an event hook, also while calls run. Running calls use it from their next event on. A
    /// hook of the same name is replaced. The tools of the hook are not added.
    #[track_caller]
    pub fn register_agent_hook(&self, hook: impl AgentHook) {
        let place = Place::of(&hook, hook.name(), Location::caller());
        self.install(&Arc::new(hook), &place);
        // Removes the replaced hook from the events that the new one does not receive.
        self.remove_events(&place.name, |event| !place.events.contains(event));
    }

    /// Removes an event hook from all events, by its name.
    ///
    /// # Errors
    /// [`RegistryError::NotFound`] if there is no hook of this name.
    pub fn remove_agent_hook(&self, name: &str) -> Result<(), RegistryError> {
        match self.remove_events(name, |_| true) {
            0 => self.remove_instance_hook(Self::PRE_REPLY, name),
            _ => Ok(()),
        }
    }

    fn remove_events(&self, name: &str, is_meant: impl Fn(EventKind) -> bool) -> usize {
        let meant = EVENT_POINTS.iter().filter(|(kind, _)| is_meant(*kind));
        let removed = meant.filter(|(_, point)| self.remove_instance_hook(*point, name).is_ok());
        removed.count()
    }
}

impl EventPoints for ReActAgent {
    fn install<H: AgentHook>(&self, hook: &Arc<H>, place: &Place) {
        install_call!(ReActAgent, self, hook, place, tells_inside: true);
        install_reasoning(self, hook, place);
        install_acting(self, hook, place);
        install_summary(self, hook, place);
    }
}

fn install_reasoning<H: AgentHook>(agent: &ReActAgent, hook: &Arc<H>, place: &Place) {
    install_pre!(agent, hook, place, PreReasoning at ReActAgent::PRE_REASONING,
        |agent: &ReActAgent, args: &mut ReActAgentReasoningArgs|
        PreReasoning::new(agent, &args.cx, &mut args.input), before_reasoning);
    install_look!(agent, hook, place, ReasoningChunk at ReActAgent::PRE_REASONING_CHUNK,
        |agent: &ReActAgent, args: &ReActAgentReasoningChunkArgs|
        ReasoningChunk::new(agent, &args.cx, &args.incremental, &args.accumulated));
    install_post!(agent, hook, place, PostReasoning at ReActAgent::POST_REASONING,
        |agent: &ReActAgent, args: &ReActAgentReasoningArgs, output: &mut Reasoned|
        PostReasoning::new(agent, &args.cx, output),
        |flow, output: &mut Reasoned| decide(flow, &mut output.control, EventKind::PostReasoning));
    install_error!(agent, hook, place, ReActAgent::ERROR_REASONING,
        |agent: &ReActAgent, args: &ReActAgentReasoningArgs, error: &mut AgentError|
        ErrorPhase::Reasoning, unless false,
        |substitute| reasoned(substitute, &args.input.model));
}

fn install_acting<H: AgentHook>(agent: &ReActAgent, hook: &Arc<H>, place: &Place) {
    install_pre!(agent, hook, place, PreActing at ReActAgent::PRE_ACTING,
        |agent: &ReActAgent, args: &mut ReActAgentActingArgs|
        PreActing::new(agent, &args.cx, &mut args.input), before_acting);
    install_look!(agent, hook, place, ActingChunk at ReActAgent::PRE_ACTING_CHUNK,
        |agent: &ReActAgent, args: &ReActAgentActingChunkArgs|
        ActingChunk::new(agent, &args.cx, &args.call, &args.chunk));
    install_post!(agent, hook, place, PostActing at ReActAgent::POST_ACTING,
        |agent: &ReActAgent, args: &ReActAgentActingArgs, output: &mut Acted|
        PostActing::new(agent, &args.cx, output),
        |flow, output: &mut Acted| decide(flow, &mut output.control, EventKind::PostActing));
    install_error!(agent, hook, place, ReActAgent::ERROR_ACTING,
    |agent: &ReActAgent, args: &ReActAgentActingArgs, error: &mut AgentError|
    ErrorPhase::Acting(&args.input.call), unless false,
    |substitute| {
        let (call, control) = (args.input.call.clone(), Control::default());
        result_of(substitute).map(|result| Acted { call, result: Some(result), control })
    });
    install_error!(agent, hook, place, ReActAgent::ERROR_TOOL_CALL,
        |agent: &ReActAgent, args: &ReActAgentToolCallArgs, error: &mut ToolError|
        ErrorPhase::Acting(&args.call), unless matches!(error, ToolError::Hook(_)), result_of);
}

fn install_summary<H: AgentHook>(agent: &ReActAgent, hook: &Arc<H>, place: &Place) {
    install_pre!(agent, hook, place, PreSummary at ReActAgent::PRE_SUMMARIZING,
        |agent: &ReActAgent, args: &mut ReActAgentSummarizingArgs|
        PreSummary::new(agent, &args.cx, &mut args.input), before_summary);
    install_look!(agent, hook, place, SummaryChunk at ReActAgent::PRE_SUMMARY_CHUNK,
        |agent: &ReActAgent, args: &ReActAgentSummaryChunkArgs|
        SummaryChunk::new(agent, &args.cx, &args.incremental, &args.accumulated));
    install_post!(agent, hook, place, PostSummary at ReActAgent::POST_SUMMARIZING,
        |agent: &ReActAgent, args: &ReActAgentSummarizingArgs, output: &mut Reasoned|
        PostSummary::new(agent, &args.cx, output),
        |flow, _: &mut Reasoned| no_flow(flow, EventKind::PostSummary));
    install_error!(agent, hook, place, ReActAgent::ERROR_SUMMARIZING,
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
        Some(Decided::AnswerTool(result)) => {
            let control = std::mem::take(&mut input.control);
            let call = input.call.clone();
            Ok(ControlFlow::Break(Acted { call, result: Some(result), control }))
        }
        decided => decide_on(decided, &mut input.control, EventKind::PreActing),
    }
}

/// Returns the output of a round that a hook answered. Earlier decisions of hooks stay in effect.
fn answer(msg: crate::message::Msg, model: &Arc<str>, control: &mut Control) -> Reasoned {
    let control = std::mem::take(control);
    Reasoned { model: model.clone(), message: Some(Arc::new(msg)), control }
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
        Some(Decided::Stop) => control.stop = true,
        Some(Decided::Jump(jump)) if allows(kind, jump.to) => control.jump = Some(jump),
        Some(_) => return Err(Decided::misplaced(kind)),
    }
    Ok(ControlFlow::Continue(()))
}
