//! Runs hooks that only decide at once.
//!
//! Hooks still take their turns: the first of such hooks runs all that stand next to it, on copies of the event, and
//! returns what it decided itself; each of the others finds what it decided when its turn comes.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use futures::FutureExt;
use hooks_core::plan::{HooksVersion, PlannedHook};
use hooks_core::{BoxError, BoxFuture, HookGroup, HookOptions, HookResult, Hookable};

use crate::agent::Agent;
use crate::call::CallContext;
use crate::event::{Decided, EventCopy, EventKind, EventMask, Flow, HookEvent};
use crate::hook::watch::{Content, Installed};
use crate::message::{Msg, ToolUse};

/// The events at which hooks decide.
const PARALLEL: EventMask = EventMask::of(&[
    EventKind::PreCall,
    EventKind::PostCall,
    EventKind::PreReasoning,
    EventKind::PostReasoning,
    EventKind::PreActing,
    EventKind::PostActing,
    EventKind::PreSummary,
    EventKind::PostSummary,
]);

/// What plans have of a hook that runs at once with others.
struct Attached {
    kind: EventKind,
    hook: Arc<Installed>,
}

/// What a call knows of hooks that run at once.
#[derive(Default)]
struct OfCall {
    neighbours: Mutex<Option<(HooksVersion, Arc<[Neighbours]>)>>,
    ended: Mutex<Vec<Ended>>,
}

/// Hooks of an event that stand next to each other and run at once.
struct Neighbours {
    kind: EventKind,
    hooks: Vec<Arc<Installed>>,
}

/// What a hook decided before its turn.
struct Ended {
    group: HookGroup,
    seen: Arc<Seen>,
    end: End,
}

/// What a hook came to. A panic goes on when its turn comes.
type End = Result<HookResult<Flow>, Box<dyn Any + Send>>;

/// An event as hooks saw it.
struct Seen {
    kind: EventKind,
    content: Content,
    /// With the arguments that nobody else sees.
    tool_use: Option<ToolUse>,
    tool_call: Option<Box<str>>,
}

impl Seen {
    fn of(event: &HookEvent<'_>) -> Self {
        let (tool_use, tool_call) = match event {
            HookEvent::PreActing(event) => (Some(event.tool_use().clone()), Some(event.id())),
            HookEvent::PostActing(event) => (None, Some(&*event.tool_use().id)),
            _ => (None, None),
        };
        let tool_call = tool_call.map(Into::into);
        Self { kind: event.kind(), content: Content::of(event), tool_use, tool_call }
    }

    fn is_of_one_event(&self, other: &Self) -> bool {
        self.kind == other.kind && self.tool_call == other.tool_call
    }

    fn is_same(&self, other: &Self) -> bool {
        self.content.is_same(&other.content) && self.tool_use == other.tool_use
    }
}

impl Installed {
    /// Returns the options with the hook, where others that run at once with it look for it.
    pub(crate) fn attached_to(&self, options: HookOptions, kind: EventKind) -> HookOptions {
        if !self.is_parallel {
            return options;
        }
        options.attach(Arc::new(Attached { kind, hook: Arc::new(self.clone()) }))
    }

    /// Runs the hook at one of its events at which it may wait, with those that run at once with it.
    pub(crate) async fn run(&self, event: HookEvent<'_>) -> HookResult<Flow> {
        if self.is_parallel && PARALLEL.contains(event.kind()) {
            return Box::pin(run_parallel(self, &event)).await;
        }
        self.run_alone(event).await
    }
}

/// Runs a hook with those that run at once with it, or returns what it decided when they ran.
async fn run_parallel(hook: &Installed, event: &HookEvent<'_>) -> HookResult<Flow> {
    let cx = event.context();
    let of_call = cx.hook_state::<OfCall>(0);
    let seen = Arc::new(Seen::of(event));
    let end = match of_call.take(hook.info().group, &seen) {
        Some(end) => end,
        None => {
            of_call.forget(&seen);
            let hooks = of_call.neighbours_from(event.agent(), hook, seen.kind);
            let mut ends = run_all(&hooks, event, &seen).await.into_iter();
            let own = ends.next().unwrap_or(Ok(Ok(Flow::Continue)));
            let groups = hooks.iter().skip(1).map(|hook| hook.info().group);
            let rest = groups.zip(ends);
            let rest = rest.map(|(group, end)| Ended { group, seen: seen.clone(), end });
            lock(&of_call.ended).extend(rest);
            own
        }
    };
    if ends_event(&end) {
        of_call.forget(&seen);
    }
    end.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Runs hooks at once. Returns what they decided, up to the first that ends the event, which cancels those behind it.
async fn run_all(hooks: &[Arc<Installed>], event: &HookEvent<'_>, seen: &Seen) -> Vec<End> {
    let (agent, cx) = (event.agent(), event.context());
    let start = |hook: &Arc<Installed>| {
        Run::Going(run_one(hook.clone(), agent, cx, EventCopy::of(event), seen))
    };
    let mut runs: Vec<_> = hooks.iter().map(start).collect();
    poll_fn(|context| {
        let (mut is_done, mut index) = (true, 0);
        while index < runs.len() {
            if let Run::Going(future) = &mut runs[index] {
                match future.as_mut().poll(context) {
                    Poll::Pending => is_done = false,
                    Poll::Ready(ended) => {
                        if ends_event(&ended) {
                            runs.truncate(index + 1);
                        }
                        runs[index] = Run::Ended(ended);
                    }
                }
            }
            index += 1;
        }
        if is_done { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    let ended = runs.into_iter().filter_map(|run| match run {
        Run::Ended(ended) => Some(ended),
        Run::Going(_) => None,
    });
    ended.collect()
}

/// A hook that runs, or what it decided.
enum Run<'a> {
    Going(BoxFuture<'a, End>),
    Ended(End),
}

/// Runs a hook on a copy of the event.
fn run_one<'a>(
    hook: Arc<Installed>,
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    mut copy: EventCopy,
    seen: &'a Seen,
) -> BoxFuture<'a, End> {
    let run = async move {
        let name = hook.info().asks_as.clone();
        let before = cx.system();
        let mut system = before.clone();
        let ended = {
            let Some(mut event) = copy.event(agent, cx, &name) else { return Ok(Flow::Continue) };
            if let HookEvent::PreCall(event) = &mut event {
                event.keep_system_in(&mut system);
            }
            hook.run_alone(event).await
        };
        let address =
            |system: &Option<Arc<Msg>>| system.as_ref().map(Arc::as_ptr).map(<*const Msg>::addr);
        let is_same = address(&system) == address(&before)
            && copy.event(agent, cx, &name).is_some_and(|it| Seen::of(&it).is_same(seen));
        if is_same { ended } else { Err(changed(&hook.info().name)) }
    };
    Box::pin(AssertUnwindSafe(run).catch_unwind())
}

fn changed(hook: &str) -> BoxError {
    let text = format!(
        "`{hook}` changed the event, and runs in parallel: a hook that changes something runs in its turn, so remove \
         `.parallel(true)`"
    );
    text.into()
}

/// Returns whether hooks further back do not run after this.
fn ends_event(end: &End) -> bool {
    match end {
        Err(_) | Ok(Err(_)) => true,
        Ok(Ok(flow)) => {
            matches!(flow.decision(), Some(Decided::Answer(_) | Decided::AnswerTool(..)))
        }
    }
}

impl OfCall {
    /// Takes what a hook decided of an event before its turn.
    fn take(&self, group: HookGroup, seen: &Seen) -> Option<End> {
        let mut known = lock(&self.ended);
        let is_it = |it: &Ended| it.group == group && it.seen.is_of_one_event(seen);
        let at = known.iter().position(is_it)?;
        let ended = known.swap_remove(at);
        ended.seen.is_same(seen).then_some(ended.end)
    }

    /// Forgets what hooks decided of an event and nobody took.
    fn forget(&self, seen: &Seen) {
        lock(&self.ended).retain(|it| !it.seen.is_of_one_event(seen));
    }

    /// Returns a hook and those behind it that run at once with it.
    fn neighbours_from(
        &self,
        agent: &dyn Agent,
        hook: &Installed,
        kind: EventKind,
    ) -> Vec<Arc<Installed>> {
        let group = hook.info().group;
        let all = self.neighbours(agent);
        let own = all.iter().filter(|it| it.kind == kind).find_map(|it| {
            let from = it.hooks.iter().position(|it| it.info().group == group)?;
            Some(it.hooks[from..].to_vec())
        });
        own.unwrap_or_else(|| vec![Arc::new(hook.clone())])
    }

    fn neighbours(&self, agent: &dyn Agent) -> Arc<[Neighbours]> {
        let version = Hookable::hooks_version(agent);
        let mut known = lock(&self.neighbours);
        if let Some((of, neighbours)) = &*known
            && *of == version
        {
            return neighbours.clone();
        }
        let neighbours = neighbours_of(agent);
        *known = Some((version, neighbours.clone()));
        neighbours
    }
}

/// Returns the hooks of an agent that run at once.
fn neighbours_of(agent: &dyn Agent) -> Arc<[Neighbours]> {
    let plan = Hookable::hook_plan(agent);
    let mut all: Vec<Neighbours> = Vec::new();
    let of_one_type = |one: &PlannedHook, other: &PlannedHook| one.hook_type() == other.hook_type();
    for hooks in plan.hooks().chunk_by(of_one_type) {
        let mut is_near = false;
        for hook in hooks {
            let attached = hook.attachment().cloned().and_then(|it| it.downcast::<Attached>().ok());
            let Some(attached) = attached else {
                is_near = false;
                continue;
            };
            let last = all.last_mut().filter(|_| is_near);
            // Of a nested call, only those run that always do.
            let last = last.filter(|it| it.hooks[0].always == attached.hook.always);
            match last {
                Some(last) => last.hooks.push(attached.hook.clone()),
                None => {
                    let (kind, hooks) = (attached.kind, vec![attached.hook.clone()]);
                    all.push(Neighbours { kind, hooks });
                }
            }
            is_near = true;
        }
    }
    all.into()
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
