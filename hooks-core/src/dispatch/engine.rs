//! The one engine of pre, post and error hooks: what each decides is what the next one sees.
//!
//! A phase starts as a plain function that runs hooks for as long as none has to be awaited, which
//! for most calls is all of them. A future runs what is left.

use std::ops::Deref;
use std::sync::Arc;

use crate::dispatch::failure::{fail, raise};
use crate::dispatch::limits::{Failure, limited};
use crate::dispatch::snapshot::{GROUPS, Hold, Levels, Snapshot, level_of, with_link};
use crate::dispatch::trace::Watch;
use crate::hook::entry::{Entry, Limits};
use crate::hook::list::List;
use crate::hook::point_hooks::Listed;
use crate::hook::stage::{Run, Stage, Step, StepOf};
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
    hooks: &Levels<P::Agent, P::Args, impl Hold>,
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
            (Some(hooks), _, _) => start_list(P::list(hooks), agent, at, seen, subject),
            (_, Some(hooks), Some(base)) => start_list(B::list(hooks), base, at, seen, subject),
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
    list: &List<P>,
    agent: &P::Agent,
    mut at: Position,
    seen: &P::Seen,
    subject: &mut P::Subject,
) -> ProgressOf<P> {
    while let Some(chunk) = list.chunks().get(at.chunk as usize) {
        let rest = chunk.get(at.index as usize..).unwrap_or_default();
        for (entry, index) in rest.iter().zip(at.index..) {
            let (Run::Sync(hook), None) = (&entry.hook.run, &entry.limits) else {
                return Progress::Waits(Position { index, ..at });
            };
            match hook(agent, seen, subject) {
                Ok(Step::Continue) => {}
                Ok(Step::Replace(replaced)) => *subject = replaced,
                Ok(Step::Exit(exit)) => return Progress::Ended(Ok(exit)),
                Err(fault) => {
                    return Progress::Ended(Err(fail(fault, level_of(at.group), entry)));
                }
            }
        }
        at = Position { chunk: at.chunk + 1, index: 0, ..at };
    }
    Progress::Done
}

/// Runs the hooks from a position on, of a nested call only those that are never skipped. Gives how a
/// hook ended the phase, if one did.
///
/// An async block, which uses the parameters where they are: an `async fn` keeps room for each twice, and
/// every call has that room.
#[expect(clippy::manual_async_fn, reason = "see above")]
pub(crate) fn resume<P, B>(
    hooks: &Snapshot<P::Agent, P::Args>,
    agent: impl Deref<Target = P::Agent>,
    mut at: Position,
    is_nested: bool,
    seen: &P::Seen,
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
            let step = if with_link!(&link, |_, _, entry| entry.limits.is_some()) {
                with_link!(link, |level, of, entry| {
                    Box::pin(run_limited(level, of, entry, agent.hooks(), seen, subject)).await
                })
            } else {
                let watch = Watch::start();
                let started = with_link!(&link, |_, of, entry| match &entry.hook.run {
                    Run::Sync(hook) => Err(hook(of, seen, subject)),
                    Run::Async(hook) => Ok(hook.start(of, seen, subject)),
                });
                // One place that waits, whatever the type of the hook: each makes every call larger.
                let answer = match started {
                    Ok(answer) => answer.await,
                    Err(answer) => answer,
                };
                // What most hooks decide, before anything is moved.
                if matches!(answer, Ok(Step::Continue)) && !watch.is_on() {
                    continue;
                }
                let outcome = answer.as_ref().map_or("failed", outcome_of::<P>);
                with_link!(link, |level, _, entry| {
                    watch.stop(level, entry, outcome);
                    answer.map_err(|fault| fail(fault, level, entry))
                })
            };
            match step {
                Ok(Step::Continue) => {}
                Ok(Step::Replace(replaced)) => *subject = replaced,
                Ok(Step::Exit(exit)) => return Some(Ok(exit)),
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }
}

/// Runs a hook under its limits. A failure that is ignored leaves the subject as it was.
async fn run_limited<P: Stage>(
    level: Level,
    agent: &P::Agent,
    entry: &Entry<P>,
    hooks: &Hooks,
    seen: &P::Seen,
    subject: &mut P::Subject,
) -> Result<StepOf<P>, P::Error> {
    let applies = |limits: &&Arc<Limits<P>>| limits.applies(agent, P::args(seen, subject));
    let Some(limits) = entry.limits.as_ref().filter(applies) else {
        return Ok(Step::Continue);
    };
    entry.remove_if_spent(level, hooks);
    let saved = limits.undo.map(|undo| undo(subject));
    let watch = Watch::start();
    let run = async {
        match &entry.hook.run {
            Run::Sync(hook) => hook(agent, seen, subject),
            Run::Async(hook) => hook.start(agent, seen, subject).await,
        }
    };
    let result = limited(limits, run).await;
    let outcome = match &result {
        Ok(answer) => answer.as_ref().map_or("failed", outcome_of::<P>),
        Err(Failure::TimedOut(_)) => "timed out",
        Err(Failure::Panicked(_)) => "panicked",
    };
    watch.stop(level, entry, outcome);
    let failed = match result {
        Ok(Ok(step)) => return Ok(step),
        Ok(Err(fault)) => Some(fail(fault, level, entry)),
        Err(failure) => raise(failure, level, entry),
    };
    match (saved, failed) {
        (None, Some(error)) => Err(error),
        (saved, _) => {
            if let Some(saved) = saved {
                *subject = saved;
            }
            Ok(Step::Continue)
        }
    }
}

/// A word for what a hook decided.
fn outcome_of<P: Stage>(step: &StepOf<P>) -> &'static str {
    let [goes_on, replaced, ended] = P::OUTCOMES;
    match step {
        Step::Continue => goes_on,
        Step::Replace(_) => replaced,
        Step::Exit(_) => ended,
    }
}
