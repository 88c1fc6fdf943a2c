//! The calls of a thread: the one that runs, and those that wait for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Mutex as Queue;

use crate::call::CallContext;
use crate::error::AgentError;

/// The calls that wait for their turn in this process, each with its line. A call waits rarely, so this
/// is rarely locked.
static WAITING: Mutex<Vec<(CallContext, Arc<Line>)>> = Mutex::new(Vec::new());

/// The first-in, first-out queue of a thread.
#[derive(Default)]
pub(super) struct Line {
    pub(super) turn: Arc<Queue<()>>,
    running: Mutex<Option<CallContext>>,
}

impl Line {
    /// Notes the call that runs.
    pub(super) fn run(&self, call: Option<CallContext>) {
        *lock(&self.running) = call;
    }

    /// Returns the call that runs, if one does.
    pub(super) fn running(&self) -> Option<CallContext> {
        lock(&self.running).clone()
    }
}

/// A call that waits, until this is dropped.
pub(super) struct Waits<'a> {
    call: &'a CallContext,
    line: &'a Arc<Line>,
}

impl<'a> Waits<'a> {
    /// Notes that a call waits.
    ///
    /// # Errors
    /// [`AgentError::WaitsInCycle`] if the call that runs waits for this one: for a call that it is
    /// part of.
    pub(super) fn begin(call: &'a CallContext, line: &'a Arc<Line>) -> Result<Self, AgentError> {
        let mut waiting = lock(&WAITING);
        refuse_cycle(call, line, &waiting, false)?;
        waiting.push((call.clone(), line.clone()));
        Ok(Self { call, line })
    }

    /// Refuses a cycle by calls that poll others and are not their parents, too. A hook or a tool may
    /// poll a call and leave it, so this is checked of calls that have waited for long.
    pub(super) fn check_polled(&self) -> Result<(), AgentError> {
        refuse_cycle(self.call, self.line, &lock(&WAITING), true)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        let is_this = |call: &CallContext| call.run_id() == self.call.run_id();
        lock(&WAITING).retain(|(call, line)| !(is_this(call) && Arc::ptr_eq(line, self.line)));
    }
}

/// A call that cannot end before another one has its turn, and the wait by which it cannot.
struct Blocked {
    call: CallContext,
    /// The number of the call, in the same list, that runs where a call inside of this one waits.
    by: Option<usize>,
}

/// Refuses a wait of `call` if the call that runs in `line` cannot end before `call` does.
fn refuse_cycle(
    call: &CallContext,
    line: &Arc<Line>,
    waiting: &[(CallContext, Arc<Line>)],
    is_polled: bool,
) -> Result<(), AgentError> {
    let Some(running) = line.running() else { return Ok(()) };
    let of = |call: &CallContext, by| {
        call.with_callers(is_polled).into_iter().map(move |call| Blocked { call, by })
    };
    let mut blocked: Vec<_> = of(call, None).collect();
    let mut next = 0;
    while next < blocked.len() {
        let holder = blocked[next].call.run_id();
        if holder == running.run_id() {
            return Err(AgentError::WaitsInCycle { cycle: names(&blocked, next) });
        }
        for (waits, line) in waiting {
            let is_behind = line.running().is_some_and(|running| running.run_id() == holder);
            let is_known = |call: &CallContext| {
                blocked.iter().any(|known| known.call.run_id() == call.run_id())
            };
            if is_behind && !is_known(waits) {
                let more: Vec<_> = of(waits, Some(next)).filter(|it| !is_known(&it.call)).collect();
                blocked.extend(more);
            }
        }
        next += 1;
    }
    Ok(())
}

/// Names the calls from the one that runs to the one that the new wait is part of, and again the first.
fn names(blocked: &[Blocked], from: usize) -> Vec<String> {
    let steps = std::iter::successors(Some(from), |number| blocked[*number].by);
    let mut names: Vec<_> = steps
        .map(|number| {
            let call = &blocked[number].call;
            format!("agent `{}` on thread `{}`", call.agent_name(), call.thread_id())
        })
        .collect();
    let last = names.last().cloned();
    names.splice(0..0, last);
    names
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
