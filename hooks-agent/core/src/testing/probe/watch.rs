//! Runs a hook in an agent and notes what it does.

use std::error::Error;
use std::fmt::Debug;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hooks_core::{BoxError, HookError, HookResult};
use tokio::time::Instant;

use crate::call::CallContext;
use crate::error::AgentError;
use crate::event::{EventKind, EventMask, Flow, HookEvent};
use crate::hook::{AgentHook, WAITS_AT_SETTLED, contained, contained_now};
use crate::react::ReActAgent;
use crate::testing::probe::logs::Logs;
use crate::testing::seen::{Failure, Seen, SeenFlow};

/// Replaces the body of a method of the agent, once: hooks before and after it run.
macro_rules! replace_body {
    ($agent:expr, $hook_type:ident, $result:expr) => {{
        let result = std::sync::Mutex::new(Some($result));
        $agent.register_instance_hook(
            $crate::react::ReActAgent::$hook_type,
            "probe",
            hooks_core::hook!($crate::react::ReActAgent::$hook_type, async move |_, args, next| {
                let taken = result.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
                match taken {
                    Some(result) => result,
                    None => next.run(args).await,
                }
            }),
        );
    }};
}
pub(super) use replace_body;

/// Reads the data of an event; `None` for events of another kind.
pub(super) type Read<T> = fn(&HookEvent<'_>) -> Option<T>;

/// An agent with the hook, which receives events of one kind.
pub(super) struct Watch<H, T> {
    pub(super) agent: ReActAgent,
    pub(super) cx: CallContext,
    hook: Arc<Watched<H, T>>,
    /// How many failures of error hooks the call had before.
    failures: usize,
}

/// The hook, between the agent and the notes on it.
struct Watched<H, T> {
    hook: Arc<H>,
    kind: EventKind,
    read: Read<T>,
    notes: Mutex<Option<Notes<T>>>,
}

struct Notes<T> {
    before: T,
    after: T,
    started: Instant,
    ended: Option<Ended>,
}

struct Ended {
    result: Result<SeenFlow, Arc<dyn Error + Send + Sync>>,
    logs: Vec<String>,
    elapsed: Duration,
}

impl<H, T> Watch<H, T>
where
    H: AgentHook,
    T: Clone + Debug + PartialEq + Send + 'static,
{
    #[track_caller]
    pub(super) fn new(
        agent: ReActAgent,
        cx: CallContext,
        hook: Arc<H>,
        kind: EventKind,
        read: Read<T>,
    ) -> Self {
        let hook = Arc::new(Watched { hook, kind, read, notes: Mutex::new(None) });
        agent.register_agent_hook(hook.clone());
        let failures = cx.hook_failures().len();
        Self { agent, cx, hook, failures }
    }

    /// Returns what the hook did, and what the agent made of it.
    pub(super) fn seen<A>(self, applied: Result<A, AgentError>) -> Seen<T> {
        let Self { cx, hook, failures, .. } = self;
        let notes = hook.lock().take();
        let notes = notes.expect("no hook of the agent's type keeps the event from the hook");
        let Notes { before, after, started, ended } = notes;
        // At `Settled`, a hook that waits is dropped.
        let dropped = || Ended {
            result: Err(Arc::from(BoxError::from(WAITS_AT_SETTLED))),
            logs: Vec::new(),
            elapsed: started.elapsed(),
        };
        let Ended { result, logs, elapsed } = ended.unwrap_or_else(dropped);
        let (flow, failed) = match result {
            Ok(flow) => (flow, None),
            Err(error) => (SeenFlow::Continue, Some(error)),
        };
        let refused = match applied {
            Err(AgentError::Hook(HookError::Failed { source, .. })) => Some(Arc::from(source)),
            _ => cx.hook_failures().into_iter().nth(failures),
        };
        let (name, kind) = (hook.name(), hook.kind);
        let failure = failed.or(refused);
        Seen {
            changed: before != after,
            event: after,
            flow,
            failure: failure.map(|source| Failure { hook: name.clone(), event: kind, source }),
            logs,
            elapsed,
            before,
            hook: name,
            kind,
            cx,
        }
    }
}

impl<H, T: Clone> Watched<H, T> {
    fn start(&self, event: &HookEvent<'_>) -> Logs {
        if let Some(before) = (self.read)(event) {
            let after = before.clone();
            *self.lock() = Some(Notes { before, after, started: Instant::now(), ended: None });
        }
        Logs::new()
    }

    /// Notes how the hook ended. A failure is not passed on: the event is over in any case.
    fn end(&self, event: &HookEvent<'_>, logs: &Logs, ended: HookResult<Flow>) -> HookResult<Flow> {
        let (result, flow) = match ended {
            Ok(flow) => (Ok(SeenFlow::of(&flow)), flow),
            Err(error) => (Err(Arc::from(error)), Flow::Continue),
        };
        if let (Some(notes), Some(after)) = (&mut *self.lock(), (self.read)(event)) {
            notes.after = after;
            let (logs, elapsed) = (logs.take(), notes.started.elapsed());
            notes.ended = Some(Ended { result, logs, elapsed });
        }
        Ok(flow)
    }
}

impl<H, T> Watched<H, T> {
    fn lock(&self) -> MutexGuard<'_, Option<Notes<T>>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<H, T> AgentHook for Watched<H, T>
where
    H: AgentHook,
    T: Clone + Send + 'static,
{
    fn name(&self) -> String {
        self.hook.name()
    }

    fn events(&self) -> EventMask {
        self.hook.events() & self.kind.into()
    }

    fn sync_events(&self) -> EventMask {
        self.hook.sync_events()
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let logs = self.start(event);
        let ended = {
            let mut hook = pin!(contained(self.hook.on_event(event)));
            poll_fn(|cx| logs.within(|| hook.as_mut().poll(cx))).await
        };
        self.end(event, &logs, ended)
    }

    fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let logs = self.start(event);
        let ended = logs.within(|| contained_now(|| self.hook.on_event_now(event)));
        self.end(event, &logs, ended)
    }
}
