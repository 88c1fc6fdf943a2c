//! The hooks of a call, phase by phase: what each decides is what the next one sees.
//!
//! A phase starts as a plain function that runs hooks for as long as none has to be waited for, which
//! for most calls is all of them. What is left is run by a future.

use crate::after::{After, AfterRun, ErrorStep};
use crate::entry::Entry;
use crate::failure::{conclude, fail};
use crate::future::BoxFuture;
use crate::hook_type::{Level, Phase};
use crate::hookable::HasHooks;
use crate::limit::limited;
use crate::place::Place;
use crate::point::{Error, HookPoint, Output};
use crate::pre::{PreResult, PreRun, PreStep};
use crate::slot::{OnError, Post, Pre};
use crate::snapshot::{Cursor, Link, Snapshot, Tables};

/// How far the sync hooks at the start of a phase came.
pub(crate) enum Progress<A: HookPoint<Args>, Args: 'static, T> {
    /// To the end, with this.
    Done(T),
    /// The hook at this place has to be waited for.
    Waits(Snapshot<A, Args>, Cursor),
}

/// The output, if a pre hook answered in place of the body.
pub(crate) type Answer<A, Args> = Result<Option<Output<A, Args>>, Error<A, Args>>;

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
            let begun = match (&link, agent.as_base()) {
                (Link::Own(_, entry), _) => begin_pre(agent, args, entry),
                (Link::Base(_, entry), Some(base)) => begin_pre(base, args, entry),
                (Link::Base(..), None) => Begun::Done(Ok(PreStep::Continue)),
            };
            let answer = match begun {
                Begun::Done(answer) => answer,
                Begun::Waits(answer) => answer.await,
            };
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

/// What a pre hook decided, or the error of the call.
type Decided<A, Args> = Result<PreStep<Args, Output<A, Args>>, Error<A, Args>>;

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
    let run = async {
        match begin_pre(agent, args, entry) {
            Begun::Done(answer) => answer,
            Begun::Waits(answer) => answer.await,
        }
    };
    let result = limited(limits, run).await;
    let fail = |fault| fail::<A, Args, _>(fault, place.level, entry);
    let step = conclude::<A, Args, _, _, _>(result, args, saved, place.level, entry, fail)?;
    Ok(step.unwrap_or(PreStep::Continue))
}

/// Runs the hooks after the body, or after what came in its place.
pub(crate) async fn finish_with<A, Args>(
    agent: &A,
    args: &Args,
    returned: Result<Output<A, Args>, Error<A, Args>>,
) -> Result<Output<A, Args>, Error<A, Args>>
where
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    let result = match returned {
        Ok(mut output) => {
            let settled = match start_post(agent, args, &mut output) {
                Progress::Done(result) => result,
                Progress::Waits(hooks, place) => {
                    continue_post(agent, args, &mut output, hooks, place).await
                }
            };
            settled.map(|()| output)
        }
        Err(error) => Err(error),
    };
    match result {
        Ok(output) => Ok(output),
        Err(error) => Box::pin(run_error(agent, args, error)).await,
    }
}

/// Runs the post hooks that are registered by now, up to the first that has to be waited for.
#[inline]
fn start_post<A, Args>(
    agent: &A,
    args: &Args,
    output: &mut Output<A, Args>,
) -> Progress<A, Args, Result<(), Error<A, Args>>>
where
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    let tables = Tables::load::<A, Args>(agent, Phase::Post);
    let hooks = tables.hooks(agent);
    let mut cursor = Cursor::default();
    loop {
        let place = cursor;
        let Some(link) = hooks.next(&mut cursor) else { return Progress::Done(Ok(())) };
        let step = match link {
            Link::Own(level, entry) => sync_post(agent, args, output, level, entry),
            Link::Base(level, entry) => {
                agent.as_base().and_then(|base| sync_post(base, args, output, level, entry))
            }
        };
        match step {
            None => return Progress::Waits(tables.keep(agent), place),
            Some(Ok(None)) => {}
            Some(Ok(Some(replaced))) => *output = replaced,
            Some(Err(error)) => return Progress::Done(Err(error)),
        }
    }
}

type PostResult<A, Args> = Result<Option<Output<A, Args>>, Error<A, Args>>;

/// What a post hook decides that need not be waited for.
#[inline]
fn sync_post<A, Args>(
    agent: &A,
    args: &Args,
    output: &mut Output<A, Args>,
    level: Level,
    entry: &Entry<Post<A, Args>>,
) -> Option<PostResult<A, Args>>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
{
    match (&entry.limits, &entry.hook.run) {
        (None, AfterRun::Sync(hook)) => {
            let step = hook(agent, args, output);
            Some(step.map_err(|fault| fail::<A, Args, _>(fault, level, entry)))
        }
        _ => None,
    }
}

/// Runs the post hooks from a place on.
async fn continue_post<A, Args>(
    agent: &A,
    args: &Args,
    output: &mut Output<A, Args>,
    hooks: Snapshot<A, Args>,
    mut cursor: Cursor,
) -> Result<(), Error<A, Args>>
where
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    while let Some(link) = hooks.next::<A, Args, Post<A, Args>, Post<A::Base, Args>>(&mut cursor) {
        let replaced = match (link, agent.as_base()) {
            (Link::Own(level, entry), _) => {
                let fail = |fault| fail::<A, Args, _>(fault, level, entry);
                let place = Place { level, hooks: agent.hooks() };
                after_step(agent, args, output, place, entry, fail).await?
            }
            (Link::Base(level, entry), Some(base)) => {
                let fail = |fault| fail::<A::Base, Args, _>(fault, level, entry);
                let place = Place { level, hooks: agent.hooks() };
                after_step(base, args, output, place, entry, fail).await?
            }
            (Link::Base(..), None) => None,
        };
        if let Some(replaced) = replaced {
            *output = replaced;
        }
    }
    Ok(())
}

/// Runs the error hooks that are registered by now.
async fn run_error<A, Args>(
    agent: &A,
    args: &Args,
    mut error: Error<A, Args>,
) -> Result<Output<A, Args>, Error<A, Args>>
where
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    let never = |fault: std::convert::Infallible| match fault {};
    let hooks = Snapshot::take(agent, Phase::Error);
    for link in hooks.links::<A, Args, OnError<A, Args>, OnError<A::Base, Args>>() {
        let step = match (link, agent.as_base()) {
            (Link::Own(level, entry), _) => {
                let place = Place { level, hooks: agent.hooks() };
                after_step(agent, args, &mut error, place, entry, never).await?
            }
            (Link::Base(level, entry), Some(base)) => {
                let place = Place { level, hooks: agent.hooks() };
                after_step(base, args, &mut error, place, entry, never).await?
            }
            (Link::Base(..), None) => ErrorStep::Keep,
        };
        match step {
            ErrorStep::Keep => {}
            ErrorStep::Replace(replaced) => error = replaced,
            ErrorStep::Recover(output) => return Ok(output),
        }
    }
    Err(error)
}

/// What a hook after the body decides; nothing if it does not apply, or failed and is ignored.
async fn after_step<A, Args, P>(
    agent: &A,
    args: &Args,
    subject: &mut P::Subject,
    place: Place<'_>,
    entry: &Entry<P>,
    fail: impl FnOnce(P::Fault) -> Error<A, Args>,
) -> Result<P::Step, Error<A, Args>>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    P: After<Agent = A, Args = Args>,
{
    if entry.limits.is_some() {
        return Box::pin(limited_after(agent, args, subject, place, entry, fail)).await;
    }
    let answer = match &entry.hook.run {
        AfterRun::Sync(hook) => hook(agent, args, subject),
        AfterRun::Async(hook, _) => hook.start(agent, args, subject).await,
    };
    answer.map_err(fail)
}

/// Runs a hook after the body that is held to limits.
async fn limited_after<A, Args, P>(
    agent: &A,
    args: &Args,
    subject: &mut P::Subject,
    place: Place<'_>,
    entry: &Entry<P>,
    fail: impl FnOnce(P::Fault) -> Error<A, Args>,
) -> Result<P::Step, Error<A, Args>>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    P: After<Agent = A, Args = Args>,
{
    let Some(limits) = entry.limits.as_ref().filter(|limits| limits.applies(agent, args)) else {
        return Ok(P::Step::default());
    };
    place.remove_spent::<A, Args, _>(entry);
    let saved = limits.undo.map(|undo| undo(subject));
    let run = async {
        match &entry.hook.run {
            AfterRun::Sync(hook) => hook(agent, args, subject),
            AfterRun::Async(hook, _) => hook.start(agent, args, subject).await,
        }
    };
    let result = limited(limits, run).await;
    let step = conclude::<A, Args, _, _, _>(result, subject, saved, place.level, entry, fail)?;
    Ok(step.unwrap_or_default())
}
