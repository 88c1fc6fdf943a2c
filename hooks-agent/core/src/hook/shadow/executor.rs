//! Runs a hook in shadow beside the calls of its agents.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, select};
use hooks_core::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{Mutex as Turn, oneshot};

use crate::agent::Agent;
use crate::call::{CallContext, OwnValues};
use crate::event::{EventCopy, EventKind, HookEvent};
use crate::hook::boxed::DynAgentHook;
use crate::hook::shadow::counts::{Counters, ShadowCounts};
use crate::hook::shadow::stand_in::StandIn;
use crate::hook::shadow::undone::{Undone, Waiting};
use crate::hook::shadow::work::{Job, Reached, Seen, Work};
use crate::hook::watch::{HookFlow, HookInfo, HookRun, tell_watchers};
use crate::memory::Memory;
use crate::message::Messages;
use crate::store::Ledger;

/// How much of a call waits for a hook that does not keep up.
const WAITING: usize = 256;

/// How long a hook may go on after its call.
const PATIENCE: Duration = Duration::from_mins(1);

/// How many threads have values of a hook.
const THREADS: usize = 10_000;

/// A hook that runs in shadow. Clones are one hook.
#[doc(hidden)]
#[derive(Clone)]
pub struct Shadow(Arc<Inner>);

struct Inner {
    hook: Arc<dyn DynAgentHook>,
    counters: Counters,
    /// What it keeps with threads, by agent and thread.
    threads: Mutex<HashMap<(String, String), Arc<OfThread>>>,
    /// What it uses of quotas.
    ledger: Arc<Ledger>,
    waiting: Arc<Waiting>,
}

/// A thread, as the hook sees it.
#[derive(Default)]
struct OfThread {
    /// The values of the hook, and the messages that the call has whose job runs.
    memory: Arc<Memory>,
    /// A hook that does not keep up with a call may have jobs of the next one: one runs at a time.
    turn: Turn<()>,
}

/// A call, as the hook sees it.
#[derive(Default)]
struct OfCall {
    cx: OnceLock<CallContext>,
    queue: OnceLock<Sender<Work>>,
    /// Dropped with the call.
    runs: OnceLock<oneshot::Sender<()>>,
}

impl Shadow {
    pub(crate) fn new(hook: Arc<dyn DynAgentHook>) -> Self {
        let (counters, threads, ledger, waiting) = Default::default();
        Self(Arc::new(Inner { hook, counters, threads, ledger, waiting }))
    }

    pub(crate) fn hook(&self) -> &Arc<dyn DynAgentHook> {
        &self.0.hook
    }

    /// Returns what the hook would have done until now.
    #[must_use]
    pub fn counts(&self) -> ShadowCounts {
        self.0.counters.counts()
    }

    /// Waits until the hook has done what it has been given until now.
    pub(crate) async fn caught_up(&self) {
        self.0.waiting.until_none().await;
    }

    /// Shows the hook an event.
    pub(crate) fn see(&self, info: &Arc<HookInfo>, event: &HookEvent<'_>) {
        let job = Job::Event(EventCopy::of(event));
        self.send(event.agent(), event.context(), info, job);
    }

    /// Has the hook do a job beside a call.
    pub(super) fn send(&self, agent: &dyn Agent, cx: &CallContext, info: &Arc<HookInfo>, job: Job) {
        let undone = Undone::new(&self.0.waiting);
        let work = Work { snapshot: cx.snapshot(), info: info.clone(), job, undone };
        let of_call = cx.hook_state::<OfCall>(self.address());
        let queue = of_call.queue.get_or_init(|| {
            let (queue, works) = channel(WAITING);
            let of_thread = self.thread(cx);
            let (agent, cx) = (Arc::new(StandIn::of(agent)), self.context(cx));
            let (runs, over) = oneshot::channel();
            // It is set once, as the queue is.
            let _ = of_call.runs.set(runs);
            spawn(Box::pin(self.clone().run(agent, cx, of_thread, works, over)));
            queue
        });
        if queue.try_send(work).is_err() {
            self.0.counters.dropped();
        }
    }

    /// Returns the context of a call as the hook sees it: always the same one.
    fn context(&self, cx: &CallContext) -> CallContext {
        let of_call = cx.hook_state::<OfCall>(self.address());
        let make = || {
            let parent = cx.parent().map(|parent| self.context(parent));
            cx.in_shadow(parent, self.thread(cx).memory.clone(), self.0.ledger.clone())
        };
        of_call.cx.get_or_init(make).clone()
    }

    /// Returns a thread as the hook sees it.
    fn thread(&self, cx: &CallContext) -> Arc<OfThread> {
        let key = (cx.agent_id().to_owned(), cx.thread_id().to_owned());
        let mut threads = self.0.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.len() >= THREADS && !threads.contains_key(&key) {
            // Those that no call uses.
            threads.retain(|_, thread| {
                Arc::strong_count(thread) > 1 || Arc::strong_count(&thread.memory) > 1
            });
        }
        threads.entry(key).or_default().clone()
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Does the jobs of a call, until the call is over. What is not done a minute after that is given up.
    async fn run(
        self,
        agent: Arc<StandIn>,
        cx: CallContext,
        of_thread: Arc<OfThread>,
        mut works: Receiver<Work>,
        over: oneshot::Receiver<()>,
    ) {
        let mut told = Told::default();
        let mut given_up = pin!(async {
            // Nothing is sent: it ends when the call does.
            let _ = over.await;
            tokio::time::sleep(PATIENCE).await;
        });
        let (mut is_over, mut values) = (false, OwnValues::default());
        while let Some(Work { snapshot, info, job, undone }) = works.recv().await {
            let turn = if is_over {
                None
            } else {
                match select(pin!(of_thread.turn.lock()), given_up.as_mut()).await {
                    Either::Left((turn, _)) => Some(turn),
                    Either::Right(_) => None,
                }
            };
            let Some(turn) = turn else {
                is_over = true;
                self.0.counters.dropped();
                continue;
            };
            cx.follow(snapshot, &mut values);
            let own = cx.owned(info.owner.as_ref());
            let mut seen = Seen::of(&job);
            let before = Reached::of(&own);
            let has_panicked = {
                let done = job.run(&*self.0.hook, &*agent, &own, &info, &mut seen);
                let done = pin!(AssertUnwindSafe(done).catch_unwind());
                match select(done, given_up.as_mut()).await {
                    Either::Left((ended, _)) => ended.is_err(),
                    Either::Right(((), _)) => {
                        // It is cancelled: nothing has said yet how it ends.
                        is_over = true;
                        false
                    }
                }
            };
            if has_panicked {
                seen.panicked();
            }
            seen.add_reached(&before, &Reached::of(&own));
            self.note(&cx, &info, &seen, &mut told);
            drop((turn, undone));
        }
        // A call whose job runs clears it at its own end.
        if let Ok(_turn) = of_thread.turn.try_lock() {
            of_thread.memory.replace(Messages::new());
        }
    }

    /// Counts and tells what the hook would have done.
    fn note(&self, cx: &CallContext, info: &HookInfo, seen: &Seen, told: &mut Told) {
        let of_call = cx.out_of_shadow();
        let cx = of_call.as_ref().unwrap_or(cx);
        let mut run = HookRun {
            cx,
            info,
            event: seen.event,
            tool_call: seen.tool_call.as_deref(),
            elapsed: seen.elapsed(),
            flow: seen.flow,
            contents: &seen.contents,
            is_shadow: true,
            would: None,
        };
        let has_changed = run.has_changed() || seen.has_changed;
        let flow = if told.is_again(seen) { HookFlow::Continue } else { seen.flow };
        run.would = self.0.counters.ran(flow, has_changed).then_some(flow);
        if run.would.is_some() {
            if !std::mem::replace(&mut told.has_diverged, true) {
                self.0.counters.diverged();
            }
            let (agent, hook, event) = (cx.agent_name(), run.hook(), seen.event);
            let flow = flow.as_str();
            tracing::info!(
                target: "hooks_agent::shadow", agent, hook, event, flow, has_changed,
                "a hook in shadow would have changed the call"
            );
        }
        tell_watchers(&run);
    }
}

/// What a hook would have done in a call.
#[derive(Default)]
struct Told {
    has_diverged: bool,
    /// Whether it would have asked about the answer whose tools run.
    has_asked: bool,
    /// The tool calls that it would have refused.
    refused: HashSet<Box<str>>,
}

impl Told {
    /// Returns whether a run decides what an earlier one did: the call went on, so that the hook comes to the same
    /// tool call again.
    fn is_again(&mut self, seen: &Seen) -> bool {
        let is_answer = seen.event == EventKind::PostReasoning.name();
        if is_answer {
            self.has_asked = seen.flow == HookFlow::Ask;
            // Ids of tool calls may come again in later rounds.
            self.refused.clear();
        }
        match (seen.flow, &seen.tool_call) {
            (HookFlow::Refuse, Some(id)) => {
                (self.has_asked && seen.event == "TOOL_CALL") | !self.refused.insert(id.clone())
            }
            (HookFlow::Ask, _) => self.has_asked && !is_answer,
            _ => false,
        }
    }
}

/// Runs a task on the runtime of the call, or without one on a thread for all of them.
fn spawn(task: BoxFuture<'static, ()>) {
    static THREAD: OnceLock<Option<Handle>> = OnceLock::new();
    let on_thread = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        let handle = runtime.handle().clone();
        let run = move || runtime.block_on(std::future::pending::<()>());
        std::thread::Builder::new().name("hooks in shadow".to_owned()).spawn(run).ok()?;
        Some(handle)
    };
    let handle = Handle::try_current().ok();
    let handle = handle.or_else(|| THREAD.get_or_init(on_thread).clone());
    if let Some(handle) = handle {
        drop(handle.spawn(task));
    }
}

impl fmt::Debug for Shadow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shadow")
            .field("hook", &self.0.hook.name())
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}
