//! The hooks before the body: what each decides is what the next one sees.
//!
//! The phase starts as a plain function that runs hooks for as long as none has to be waited for, which
//! for most calls is all of them. What is left is run by a future.

use crate::entry::Entry;
use crate::failure::{conclude, fail};
use crate::future::BoxFuture;
use crate::hook_type::{Level, Phase};
use crate::hookable::HasHooks;
use crate::limit::{self, limited};
use crate::place::Place;
use crate::point::{Error, HookPoint, Output};
use crate::pre::{PreResult, PreRun, PreStep};
use crate::progress::Progress;
use crate::slot::Pre;
use crate::snapshot::{Cursor, Link, Snapshot, Tables};
use crate::trace::{self, Watch};

/// The output, if a pre hook answered in place of the body.
pub(crate) type Answer<A, Args> = Result<Option<Output<A, Args>>, Error<A, Args>>;

/// What a pre hook decided, or the error of the call.
type Decided<A, Args> = Result<PreStep<Args, Output<A, Args>>, Error<A, Args>>;

/// Runs the pre hooks up to the first that has to be waited for.
#[inline]
pub(crate) fn start_pre<A, Args>(agent: &A, args: &mut Args) -> Progress<A, Args, Answer<A, Args>>
where
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    let tables = Tables::load::<A, Args>(agent, Phase::Pre);
    let hooks = tables.hooks(agent);
    let mut cursor = Cursor::default();
    if trace::is_on() {
        return Progress::Waits(tables.keep(agent), cursor);
    }
    loop {
        let place = cursor;
        let Some(link) = hooks.next(&mut cursor) else { return Progress::Done(Ok(None)) };
        let step = match link {
            Link::Own(level, entry) => sync_pre(agent, args, level, entry),
            Link::Base(level, entry) => {
                agent.as_base().and_then(|base| sync_pre(base, args, level, entry))
            }
        };
        match step {
            None => return Progress::Waits(tables.keep(agent), place),
            Some(Ok(PreStep::Continue)) => {}
            Some(Ok(PreStep::Replace(replaced))) => *args = replaced,
            Some(Ok(PreStep::Return(output))) => return Progress::Done(Ok(Some(output))),
            Some(Err(error)) => return Progress::Done(Err(error)),
        }
    }
}

/// Runs the pre hooks from a place on.
pub(crate) async fn continue_pre<A, Args>(
    agent: &A,
    args: &mut Args,
    hooks: Snapshot<A, Args>,
    mut cursor: Cursor,
) -> Answer<A, Args>
where
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    while let Some(link) = hooks.next::<A, Args, Pre<A, Args>, Pre<A::Base, Args>>(&mut cursor) {
        let step = if link.is_limited() {
            match (link, agent.as_base()) {
                (Link::Own(level, entry), _) => {
                    let place = Place { level, hooks: agent.hooks() };
                    Box::pin(limited_pre(agent, args, place, entry)).await?
                }
                (Link::Base(level, entry), Some(base)) => {
                    let place = Place { level, hooks: agent.hooks() };
                    Box::pin(limited_pre(base, args, place, entry)).await?
                }
                (Link::Base(..), None) => PreStep::Continue,
            }
        } else {
            let watch = Watch::start();
            let begun = match (&link, agent.as_base()) {
                (Link::Own(_, entry), _) => begin_pre(agent, args, entry),
                (Link::Base(_, entry), Some(base)) => begin_pre(base, args, entry),
                (Link::Base(..), None) => Begun::Done(Ok(PreStep::Continue)),
            };
            let answer = match begun {
                Begun::Done(answer) => answer,
                Begun::Waits(answer) => answer.await,
            };
            let outcome = outcome_of(answer.as_ref().ok());
            match &link {
                Link::Own(level, entry) => watch.stop::<A, Args, _>(*level, entry, outcome),
                Link::Base(level, entry) => watch.stop::<A::Base, Args, _>(*level, entry, outcome),
            }
            answer.map_err(|fault| match link {
                Link::Own(level, entry) => fail::<A, Args, _>(fault, level, entry),
                Link::Base(level, entry) => fail::<A::Base, Args, _>(fault, level, entry),
            })?
        };
        match step {
            PreStep::Continue => {}
            PreStep::Replace(replaced) => *args = replaced,
            PreStep::Return(output) => return Ok(Some(output)),
        }
    }
    Ok(None)
}

/// What a pre hook decides that need not be waited for.
#[inline]
fn sync_pre<A, Args>(
    agent: &A,
    args: &mut Args,
    level: Level,
    entry: &Entry<Pre<A, Args>>,
) -> Option<Decided<A, Args>>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
{
    match (&entry.limits, &entry.hook.run) {
        (None, PreRun::Sync(hook)) => {
            Some(hook(agent, args).map_err(|fault| fail::<A, Args, _>(fault, level, entry)))
        }
        _ => None,
    }
}

/// A hook that has been started.
enum Begun<'a, T> {
    Done(T),
    Waits(BoxFuture<'a, T>),
}

fn begin_pre<'a, A, Args>(
    agent: &'a A,
    args: &'a mut Args,
    entry: &'a Entry<Pre<A, Args>>,
) -> Begun<'a, PreResult<A, Args>>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
{
    match &entry.hook.run {
        PreRun::Sync(hook) => Begun::Done(hook(agent, args)),
        PreRun::Async(hook, _) => Begun::Waits(hook.start(agent, args)),
    }
}

/// Runs a pre hook that is held to limits.
async fn limited_pre<A, Args>(
    agent: &A,
    args: &mut Args,
    place: Place<'_>,
    entry: &Entry<Pre<A, Args>>,
) -> Decided<A, Args>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
{
    let Some(limits) = entry.limits.as_ref().filter(|limits| limits.applies(agent, args)) else {
        return Ok(PreStep::Continue);
    };
    place.remove_spent::<A, Args, _>(entry);
    let saved = limits.undo.map(|undo| undo(args));
    let watch = Watch::start();
    let run = async {
        match begin_pre(agent, args, entry) {
            Begun::Done(answer) => answer,
            Begun::Waits(answer) => answer.await,
        }
    };
    let result = limited(limits, run).await;
    watch.stop::<A, Args, _>(place.level, entry, limit::outcome_of(&result, outcome_of));
    let fail = |fault| fail::<A, Args, _>(fault, place.level, entry);
    let step = conclude::<A, Args, _, _, _>(result, args, saved, place.level, entry, fail)?;
    Ok(step.unwrap_or(PreStep::Continue))
}

/// A word for what a hook decided; none if it failed.
fn outcome_of<Args, Output>(step: Option<&PreStep<Args, Output>>) -> &'static str {
    match step {
        Some(PreStep::Continue) => "continued",
        Some(PreStep::Replace(_)) => "replaced",
        Some(PreStep::Return(_)) => "returned",
        None => "failed",
    }
}
