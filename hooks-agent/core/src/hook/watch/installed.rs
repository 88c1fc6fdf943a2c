//! Runs an event hook that is registered at a method.

use std::sync::Arc;
use std::time::Instant;

use hooks_core::{HookResult, Hookable, Level};

use crate::agent::Agent;
use crate::call::CallContext;
use crate::error::BuildError;
use crate::event::{Decided, EventKind, EventMask, Flow, HookEvent};
use crate::hook::boxed::DynAgentHook;
use crate::hook::registration::Registration;
use crate::hook::shadow::Shadow;
use crate::hook::watch::content::Content;
use crate::hook::watch::hook_info::HookInfo;
use crate::hook::watch::hook_run::{HookFlow, HookRun};
use crate::hook::watch::watchers::{is_watched, tell_watchers};

/// The events of chunks. Watchers receive a run there only if the hook fails: chunks are many.
const CHUNKS: EventMask =
    EventMask::of(&[EventKind::ReasoningChunk, EventKind::ActingChunk, EventKind::SummaryChunk]);

/// An event hook that is registered at a method.
#[derive(Clone)]
pub(crate) struct Installed {
    pub(crate) hook: Arc<dyn DynAgentHook>,
    pub(super) info: Arc<HookInfo>,
    /// Whether it does not receive what a call replays.
    is_once: bool,
    /// What runs it beside calls, if it is in shadow.
    shadow: Option<Shadow>,
    /// Whether it runs at once with others.
    pub(crate) is_parallel: bool,
    /// Whether it runs in nested calls too.
    pub(crate) always: bool,
}

impl Installed {
    pub(crate) fn new(
        hook: &Arc<dyn DynAgentHook>,
        registration: &Registration,
        level: Level,
    ) -> Self {
        let info = Arc::new(HookInfo::of(registration, level));
        let Registration { is_once, is_parallel, always, .. } = *registration;
        let (hook, shadow) = (hook.clone(), hook.__shadow());
        Self { hook, info, is_once, shadow, is_parallel, always }
    }

    /// Runs the hook at one of its sync events.
    pub(crate) fn run_now(&self, event: HookEvent<'_>) -> HookResult<Flow> {
        if self.skips(&event) {
            return Ok(Flow::Continue);
        }
        if let Some(shadow) = &self.shadow {
            shadow.see(&self.info, &event);
            return Ok(Flow::Continue);
        }
        let event = self.told_its_name(event);
        let own = self.enter(event.agent(), event.context())?;
        let mut event = event;
        if let Some(cx) = &own {
            event.set_context(cx);
        }
        if !is_watched(event.context(), self.info.group) {
            return self.hook.on_event_now(&mut event);
        }
        let mut run = EventRun::begin(&self.info, &event);
        let ended = self.hook.on_event_now(&mut event);
        run.end(&event, &ended);
        ended
    }

    /// Notes where the hook counts in this call. Returns the context as this hook sees it, if that is
    /// another one than for other hooks.
    ///
    /// # Errors
    /// [`BuildError::SharedCounter`] if another hook of the same agent counts there.
    pub(crate) fn enter(
        &self,
        agent: &dyn Agent,
        cx: &CallContext,
    ) -> HookResult<Option<CallContext>> {
        let HookInfo { name, group, counter, owner, .. } = &*self.info;
        let Some(counter) = counter else { return Ok(None) };
        let own = owner.as_ref().map(|owner| cx.owned_by(owner));
        let claimed = own.as_ref().unwrap_or(cx).claim_counter(counter, *group, name);
        let Err(other) = claimed else { return Ok(own) };
        // One of them may have been replaced while the call runs.
        let plan = Hookable::hook_plan(agent);
        let runs = |group| plan.hooks().iter().any(|hook| hook.group() == Some(group));
        if runs(other.group) && runs(*group) {
            return Err(Box::new(BuildError::SharedCounter {
                agent: cx.agent_name().to_owned(),
                counter: counter.to_string(),
                hooks: [other.hook.to_string(), name.to_string()],
            }));
        }
        cx.replace_claim(&other, *group, name);
        Ok(own)
    }

    /// Returns what is known of the hook.
    pub(crate) fn info(&self) -> &Arc<HookInfo> {
        &self.info
    }

    fn skips(&self, event: &HookEvent<'_>) -> bool {
        self.is_once && event.is_replayed()
    }

    /// Names the hook in its decision.
    pub(crate) fn named(&self, flow: Flow) -> Flow {
        flow.by(|| self.hook.name(), &self.info.asks_as)
    }

    /// Returns the event with the name of the hook, where a hook asks by it.
    fn told_its_name<'a>(&'a self, mut event: HookEvent<'a>) -> HookEvent<'a> {
        if let HookEvent::PreActing(event) = &mut event {
            event.set_hook(&self.info.asks_as);
        }
        event
    }

    /// Runs the hook at one of its other events, without those that run at once with it.
    pub(crate) async fn run_alone(&self, event: HookEvent<'_>) -> HookResult<Flow> {
        if self.skips(&event) {
            return Ok(Flow::Continue);
        }
        let mut event = self.told_its_name(event);
        let is_watched = is_watched(event.context(), self.info.group);
        if !is_watched && self.info.counter.is_none() {
            return self.hook.on_event(&mut event).await;
        }
        // Boxed, so that the futures of other calls stay small.
        Box::pin(async move {
            let own = self.enter(event.agent(), event.context())?;
            let mut event = event;
            if let Some(cx) = &own {
                event.set_context(cx);
            }
            let mut run = is_watched.then(|| EventRun::begin(&self.info, &event));
            let ended = self.hook.on_event(&mut event).await;
            if let Some(run) = &mut run {
                run.end(&event, &ended);
            }
            ended
        })
        .await
    }
}

/// A run of a hook at an event, told when it is dropped.
struct EventRun<'a> {
    info: &'a HookInfo,
    cx: CallContext,
    kind: EventKind,
    tool_call: Option<Box<str>>,
    start: Instant,
    contents: [(Content, Content); 1],
    flow: Option<HookFlow>,
}

impl<'a> EventRun<'a> {
    fn begin(info: &'a HookInfo, event: &HookEvent<'_>) -> Self {
        let tool_call = match event {
            HookEvent::PreActing(event) => Some(event.id()),
            HookEvent::PostActing(event) => Some(&*event.tool_use().id),
            HookEvent::ActingChunk(event) => Some(&*event.tool_use().id),
            _ => None,
        };
        Self {
            info,
            cx: event.context().clone(),
            kind: event.kind(),
            tool_call: tool_call.map(Into::into),
            contents: [(Content::of(event), Content::Nothing)],
            start: Instant::now(),
            flow: None,
        }
    }

    fn end(&mut self, event: &HookEvent<'_>, ended: &HookResult<Flow>) {
        self.contents[0].1 = Content::of(event);
        self.flow = Some(flow_of(ended));
    }
}

impl Drop for EventRun<'_> {
    fn drop(&mut self) {
        let flow = self.flow.unwrap_or_else(unended);
        if CHUNKS.contains(self.kind) && flow == HookFlow::Continue {
            return;
        }
        tell_watchers(&HookRun {
            cx: &self.cx,
            info: self.info,
            event: self.kind.name(),
            tool_call: self.tool_call.as_deref(),
            elapsed: self.start.elapsed(),
            flow,
            contents: &self.contents,
            is_shadow: false,
            would: None,
        });
    }
}

/// The flow of a hook that did not end.
pub(super) fn unended() -> HookFlow {
    if std::thread::panicking() { HookFlow::Panicked } else { HookFlow::Cancelled }
}

pub(crate) fn flow_of(ended: &HookResult<Flow>) -> HookFlow {
    match ended {
        Err(_) => HookFlow::Failed,
        Ok(flow) => match flow.decision() {
            None => HookFlow::Continue,
            Some(Decided::AnswerTool(result, _)) if result.is_error => HookFlow::Refuse,
            Some(Decided::Answer(_) | Decided::AnswerTool(..)) => HookFlow::Answer,
            Some(Decided::Ask(..) | Decided::AskPeople(_)) => HookFlow::Ask,
            Some(Decided::Stop(_)) => HookFlow::Stop,
            Some(Decided::Jump(_)) => HookFlow::Jump,
            Some(Decided::Recover(_)) => HookFlow::Recover,
        },
    }
}
