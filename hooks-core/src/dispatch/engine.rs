//! The one engine of pre, post and error hooks: what each decides is what the next one sees.
//!
//! A phase starts as a plain function that runs hooks for as long as none has to be awaited, which
//! for most calls is all of them. A future runs what is left.

use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::dispatch::limits::{Failure, limited, message_of};
use crate::dispatch::point_hooks::Listed;
use crate::dispatch::report::failure::{fail, raise};
use crate::dispatch::report::trace::Watch;
use crate::dispatch::snapshot::{GROUPS, Levels, level_of, with_link};
use crate::hook::entry::{Entries, Entry};
use crate::hook::stage::{Decided, DecidedOf, Run, Stage, StepResult};
use crate::hook_type::Level;
use crate::point::call_mode::Position;
use crate::point::hook_point::HookPoint;
use crate::registry::hooks::{HasHooks, Hooks};

/// The same stage, of the trait that the method is of.
pub(crate) trait StageOfBase<P: Stage>:
    Stage<
        Agent = <P::Agent as HookPoint<P::Args>>::Base,
        Args = P::Args,
        Seen = P::Seen,
        Subject = P::Subject,
        Exit = P::Exit,
        Fault = P::Fault,
        Error = P::Error,
    > + Listed
{
}

impl<P: Stage, B> StageOfBase<P> for B where
    B: Stage<
            Agent = <P::Agent as HookPoint<P::Args>>::Base,
            Args = P::Args,
            Seen = P::Seen,
            Subject = P::Subject,
            Exit = P::Exit,
            Fault = P::Fault,
            Error = P::Error,
        > + Listed
{
}

/// How a hook ended its phase: with the output of the call, or with its error.
pub(crate) type End<P> = Result<<P as Stage>::Exit, <P as Stage>::Error>;

/// How far the hooks at the start of a phase came.
pub(crate) enum Progress<X, E> {
    /// To the end.
    Done,
    /// To a hook that ended the phase.
    Ended(Result<X, E>),
    /// To the hook at this position, which has to be awaited.
    Waits(Position),
}

type ProgressOf<P> = Progress<<P as Stage>::Exit, <P as Stage>::Error>;

/// Runs hooks up to the first that has to be awaited, or has limits.
#[inline]
pub(crate) fn start<P, B>(
    hooks: Levels<'_, P::Agent, P::Args>,
    agent: &P::Agent,
    mut at: Position,
    seen: &P::Seen,
    subject: &mut P::Subject,
) -> ProgressOf<P>
where
    P: Stage + Listed,
    B: StageOfBase<P>,
{
    while at.group < GROUPS {
        let progress = match (hooks.own_at(at.group), hooks.base_at(at.group), agent.as_base()) {
            (Some(hooks), _, _) => start_list(P::entries(hooks), agent, at, seen, subject),
            (_, Some(hooks), Some(base)) => start_list(B::entries(hooks), base, at, seen, subject),
            _ => Progress::Done,
        };
        match progress {
            Progress::Done => at = Position { group: at.group + 1, ..Position::default() },
            ended => return ended,
        }
    }
    Progress::Done
}

#[inline]
fn start_list<P: Stage>(
    list: &Entries<P>,
    agent: &P::Agent,
    mut at: Position,
    seen: &P::Seen,
    subject: &mut P::Subject,
) -> ProgressOf<P> {
    while let Some(chunk) = list.chunks().get(at.chunk as usize) {
        let rest = chunk.get(at.index as usize..).unwrap_or_default();
        for (entry, index) in rest.iter().zip(at.index..) {
            let (Run::Sync(hook), false) = (&entry.hook.run, entry.is_limited) else {
                return Progress::Waits(Position { index, ..at });
            };
            if let Some(decided) = hook(agent, seen, subject)
                && let Some(end) = apply(decided, level_of(at.group), entry, subject)
            {
                return Progress::Ended(end);
            }
        }
        at = Position { chunk: at.chunk + 1, index: 0, ..at };
    }
    Progress::Done
}

/// Does what a hook decided. Gives how it ended the phase, if it did.
#[expect(clippy::boxed_local, reason = "it comes in its box, and leaves it here alone")]
#[cold]
#[inline(never)]
pub(crate) fn apply<P: Stage>(
    decided: Box<DecidedOf<P>>,
    level: Level,
    entry: &Entry<P>,
    subject: &mut P::Subject,
) -> Option<End<P>> {
    match *decided {
        Decided::Replace(replaced) => {
            *subject = replaced;
            None
        }
        Decided::Exit(exit) => Some(Ok(exit)),
        Decided::Fault(fault) => Some(Err(fail(fault, level, entry))),
    }
}

/// Runs the hooks from a position on, of a nested call only those that are never skipped. Gives how a
/// hook ended the phase, if one did.
///
/// An async block, which uses the parameters where they are: an `async fn` keeps room for each twice, and
/// every call has that room.
#[expect(clippy::manual_async_fn, reason = "see above")]
pub(crate) fn resume<P, B>(
    hooks: Levels<'_, P::Agent, P::Args>,
    agent: impl Deref<Target = P::Agent>,
    mut at: Position,
    is_nested: bool,
    seen: &mut P::Seen,
    subject: &mut P::Subject,
) -> impl Future<Output = Option<End<P>>>
where
    P: Stage<Agent: HasHooks> + Listed,
    B: StageOfBase<P>,
{
    async move {
        while let Some(link) = hooks.seek::<P, B>(&agent, &mut at) {
            at = at.next();
            if link.is_skipped(is_nested) {
                continue;
            }
            let end = if with_link!(&link, |_, _, entry| entry.is_limited) {
                with_link!(link, |level, of, entry| {
                    Box::pin(run_limited(level, of, entry, agent.hooks(), seen, subject)).await
                })
            } else {
                let watch = Watch::start();
                let answer = {
                    let started = with_link!(&link, |_, of, entry| match &entry.hook.run {
                        Run::Sync(hook) => Err(hook(of, seen, subject)),
                        Run::Async(hook) => Ok(hook.start(of, seen, subject)),
                    });
                    // One place that waits, whatever the type of the hook: each makes every call larger.
                    match started {
                        Ok(answer) => answer.await,
                        Err(answer) => answer,
                    }
                };
                with_link!(link, |level, _, entry| {
                    watch.stop(level, entry, outcome_of::<P>(answer.as_deref()));
                    answer.and_then(|decided| apply(decided, level, entry, subject))
                })
            };
            if end.is_some() {
                return end;
            }
        }
        None
    }
}

/// The same in a sync method, whose hooks are all sync.
#[cold]
#[inline(never)]
pub(crate) fn resume_now<P, B>(
    hooks: Levels<'_, P::Agent, P::Args>,
    agent: impl Deref<Target = P::Agent>,
    mut at: Position,
    is_nested: bool,
    seen: &P::Seen,
    subject: &mut P::Subject,
) -> Option<End<P>>
where
    P: Stage<Agent: HasHooks> + Listed,
    B: StageOfBase<P>,
{
    while let Some(link) = hooks.seek::<P, B>(&agent, &mut at) {
        at = at.next();
        if link.is_skipped(is_nested) {
            continue;
        }
        let end = with_link!(link, |level, of, entry| {
            run_now(level, of, entry, agent.hooks(), seen, subject)
        });
        if end.is_some() {
            return end;
        }
    }
    None
}

/// Runs a sync hook under its limits, if it has any.
fn run_now<P: Stage>(
    level: Level,
    agent: &P::Agent,
    entry: &Entry<P>,
    hooks: &Hooks,
    seen: &P::Seen,
    subject: &mut P::Subject,
) -> Option<End<P>> {
    let Run::Sync(hook) = &entry.hook.run else { unreachable!("a sync method has no async hooks") };
    if entry.is_limited && !entry.applies(agent, P::args(seen, subject)) {
        return None;
    }
    entry.registration.remove_if_spent(level, hooks);
    let saved = entry.undo.map(|undo| undo(subject));
    let watch = Watch::start();
    let result = if saved.is_some() {
        catch_unwind(AssertUnwindSafe(|| hook(agent, seen, subject)))
            .map_err(|panic| Failure::Panicked(message_of(panic)))
    } else {
        Ok(hook(agent, seen, subject))
    };
    finish(result, watch, saved, level, entry, subject)
}

/// Runs a hook under its limits. A failure that is ignored leaves the subject as it was.
async fn run_limited<P: Stage>(
    level: Level,
    agent: &P::Agent,
    entry: &Entry<P>,
    hooks: &Hooks,
    seen: &mut P::Seen,
    subject: &mut P::Subject,
) -> Option<End<P>> {
    if !entry.applies(agent, P::args(seen, subject)) {
        return None;
    }
    entry.registration.remove_if_spent(level, hooks);
    let saved = entry.undo.map(|undo| undo(subject));
    let watch = Watch::start();
    let (seen, changed) = (&mut *seen, &mut *subject);
    let run = async move {
        match &entry.hook.run {
            Run::Sync(hook) => hook(agent, seen, changed),
            Run::Async(hook) => hook.start(agent, seen, changed).await,
        }
    };
    // Nothing stops a sync hook.
    let timeout = entry.registration.timeout.filter(|_| entry.hook.waits());
    let result = limited(timeout, entry.undo.is_some(), run).await;
    finish(result, watch, saved, level, entry, subject)
}

/// The end of a hook with limits.
fn finish<P: Stage>(
    result: Result<StepResult<P>, Failure>,
    watch: Watch,
    saved: Option<P::Subject>,
    level: Level,
    entry: &Entry<P>,
    subject: &mut P::Subject,
) -> Option<End<P>> {
    let outcome = match &result {
        Ok(answer) => outcome_of::<P>(answer.as_deref()),
        Err(Failure::TimedOut(_)) => "timed out",
        Err(Failure::Panicked(_)) => "panicked",
        Err(Failure::Untimed) => "failed",
    };
    watch.stop(level, entry, outcome);
    let failed = match result {
        Ok(None) => return None,
        Ok(Some(decided)) => match *decided {
            Decided::Fault(fault) => Some(fail(fault, level, entry)),
            decided => return apply(Box::new(decided), level, entry, subject),
        },
        Err(failure) => raise(failure, level, entry),
    };
    match (saved, failed) {
        (None, Some(error)) => Some(Err(error)),
        (saved, _) => {
            if let Some(saved) = saved {
                *subject = saved;
            }
            None
        }
    }
}

/// A word for what a hook decided.
fn outcome_of<P: Stage>(decided: Option<&DecidedOf<P>>) -> &'static str {
    let [goes_on, replaced, ended] = P::OUTCOMES;
    match decided {
        None => goes_on,
        Some(Decided::Replace(_)) => replaced,
        Some(Decided::Exit(_)) => ended,
        Some(Decided::Fault(_)) => "failed",
    }
}
