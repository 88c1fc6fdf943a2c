//! The hooks after the body: what each decides is what the next one sees.

use crate::after::{After, AfterRun, ErrorStep};
use crate::entry::Entry;
use crate::failure::{conclude, fail};
use crate::hook_type::{Level, Phase};
use crate::hookable::HasHooks;
use crate::limit::{self, limited};
use crate::place::Place;
use crate::point::{Error, HookPoint, Output};
use crate::progress::Progress;
use crate::slot::{OnError, Post};
use crate::snapshot::{Cursor, Link, Snapshot, Tables};
use crate::trace::{self, Watch};

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
            let ran = match start_post(agent, args, &mut output) {
                Progress::Done(result) => result,
                Progress::Waits(hooks, place) => {
                    continue_post(agent, args, &mut output, hooks, place).await
                }
            };
            ran.map(|()| output)
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
    if trace::is_on() {
        return Progress::Waits(tables.keep(agent), cursor);
    }
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
    let watch = Watch::start();
    let answer = match &entry.hook.run {
        AfterRun::Sync(hook) => hook(agent, args, subject),
        AfterRun::Async(hook, _) => hook.start(agent, args, subject).await,
    };
    watch.stop::<A, Args, _>(place.level, entry, outcome_of::<P>(answer.as_ref().ok()));
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
    let watch = Watch::start();
    let run = async {
        match &entry.hook.run {
            AfterRun::Sync(hook) => hook(agent, args, subject),
            AfterRun::Async(hook, _) => hook.start(agent, args, subject).await,
        }
    };
    let result = limited(limits, run).await;
    watch.stop::<A, Args, _>(place.level, entry, limit::outcome_of(&result, outcome_of::<P>));
    let step = conclude::<A, Args, _, _, _>(result, subject, saved, place.level, entry, fail)?;
    Ok(step.unwrap_or_default())
}

/// A word for what a hook decided; none if it failed.
fn outcome_of<P: After>(step: Option<&P::Step>) -> &'static str {
    step.map_or("failed", P::outcome)
}
