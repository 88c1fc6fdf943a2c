//! The hooks of a call, phase by phase: what each decides is what the next one sees.

use crate::after::{After, AfterRun, ErrorStep};
use crate::chain::Chain;
use crate::entry::Entry;
use crate::failure::{conclude, fail};
use crate::hook_type::Phase;
use crate::hookable::HasHooks;
use crate::limit::limited;
use crate::options::Limits;
use crate::place::Place;
use crate::point::{Error, HookPoint, Output};
use crate::pre::{PreRun, PreStep};
use crate::slot::{OnError, Post, Pre};
use crate::snapshot::Snapshots;

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
        Ok(output) => run_post(agent, args, output).await,
        Err(error) => Err(error),
    };
    match result {
        Ok(output) => Ok(output),
        Err(error) => Box::pin(run_error(agent, args, error)).await,
    }
}

/// Runs the pre hooks; the output is there if one of them answered in place of the body.
pub(crate) async fn run_pre<A, Args>(
    agent: &A,
    args: &mut Args,
    hooks: &Snapshots<A, Args>,
) -> Result<Option<Output<A, Args>>, Error<A, Args>>
where
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    for (place, own, base) in hooks.levels(agent) {
        if let Some(hooks) = own
            && let Some(output) = run_pre_chain(agent, args, place, &hooks.pre).await?
        {
            return Ok(Some(output));
        }
        if let Some((base, hooks)) = base
            && let Some(output) = Box::pin(run_pre_chain(base, args, place, &hooks.pre)).await?
        {
            return Ok(Some(output));
        }
    }
    Ok(None)
}

/// Runs the pre hooks of one level.
async fn run_pre_chain<A, Args>(
    agent: &A,
    args: &mut Args,
    place: Place<'_>,
    chain: &Chain<Pre<A, Args>>,
) -> Result<Option<Output<A, Args>>, Error<A, Args>>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
{
    for entry in chain.entries() {
        let step = match (&entry.limits, &entry.hook.run) {
            (Some(limits), _) => {
                Box::pin(run_limited_pre(agent, args, place, entry, limits)).await?
            }
            (None, PreRun::Sync(hook)) => {
                hook(agent, args).map_err(|fault| fail::<A, Args, _>(fault, place.level, entry))?
            }
            (None, PreRun::Async(hook, _)) => {
                let step = hook.start(agent, args).await;
                step.map_err(|fault| fail::<A, Args, _>(fault, place.level, entry))?
            }
        };
        match step {
            PreStep::Continue => {}
            PreStep::Replace(replaced) => *args = replaced,
            PreStep::Return(output) => return Ok(Some(output)),
        }
    }
    Ok(None)
}

/// Runs a pre hook that is held to limits.
async fn run_limited_pre<A, Args>(
    agent: &A,
    args: &mut Args,
    place: Place<'_>,
    entry: &Entry<Pre<A, Args>>,
    limits: &Limits<Pre<A, Args>>,
) -> Result<PreStep<Args, Output<A, Args>>, Error<A, Args>>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
{
    if !limits.applies(agent, args) {
        return Ok(PreStep::Continue);
    }
    place.remove_spent::<A, Args, _>(entry);
    let saved = limits.undo.map(|undo| undo(args));
    let run = async {
        match &entry.hook.run {
            PreRun::Sync(hook) => hook(agent, args),
            PreRun::Async(hook, _) => hook.start(agent, args).await,
        }
    };
    let result = limited(limits, run).await;
    let fail = |fault| fail::<A, Args, _>(fault, place.level, entry);
    let step = conclude::<A, Args, _, _, _>(result, args, saved, place.level, entry, fail)?;
    Ok(step.unwrap_or(PreStep::Continue))
}

/// Runs the post hooks that are registered by now.
async fn run_post<A, Args>(
    agent: &A,
    args: &Args,
    mut output: Output<A, Args>,
) -> Result<Output<A, Args>, Error<A, Args>>
where
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    let hooks = Snapshots::take(agent, Phase::Post);
    for (place, own, base) in hooks.levels(agent) {
        if let Some(hooks) = own {
            run_post_chain(agent, args, &mut output, place, &hooks.post).await?;
        }
        if let Some((base, hooks)) = base {
            Box::pin(run_post_chain(base, args, &mut output, place, &hooks.post)).await?;
        }
    }
    Ok(output)
}

/// Runs the post hooks of one level.
async fn run_post_chain<A, Args>(
    agent: &A,
    args: &Args,
    output: &mut Output<A, Args>,
    place: Place<'_>,
    chain: &Chain<Post<A, Args>>,
) -> Result<(), Error<A, Args>>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
{
    for entry in chain.entries() {
        let fail = |fault| fail::<A, Args, _>(fault, place.level, entry);
        if let Some(replaced) = step_after(agent, args, output, place, entry, fail).await? {
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
    let hooks = Snapshots::take(agent, Phase::Error);
    for (place, own, base) in hooks.levels(agent) {
        if let Some(hooks) = own
            && let Some(output) =
                run_error_chain(agent, args, &mut error, place, &hooks.error).await?
        {
            return Ok(output);
        }
        if let Some((base, hooks)) = base
            && let Some(output) =
                run_error_chain(base, args, &mut error, place, &hooks.error).await?
        {
            return Ok(output);
        }
    }
    Err(error)
}

/// Runs the error hooks of one level; the output is there if one of them recovered the call.
async fn run_error_chain<A, Args>(
    agent: &A,
    args: &Args,
    error: &mut Error<A, Args>,
    place: Place<'_>,
    chain: &Chain<OnError<A, Args>>,
) -> Result<Option<Output<A, Args>>, Error<A, Args>>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
{
    for entry in chain.entries() {
        let never = |fault: std::convert::Infallible| match fault {};
        match step_after(agent, args, error, place, entry, never).await? {
            ErrorStep::Keep => {}
            ErrorStep::Replace(replaced) => *error = replaced,
            ErrorStep::Recover(output) => return Ok(Some(output)),
        }
    }
    Ok(None)
}

/// What a hook after the body decided; nothing if it does not apply, or failed and is ignored.
async fn step_after<A, Args, P>(
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
    let Some(limits) = &entry.limits else {
        let step = match &entry.hook.run {
            AfterRun::Sync(hook) => hook(agent, args, subject),
            AfterRun::Async(hook, _) => hook.start(agent, args, subject).await,
        };
        return step.map_err(fail);
    };
    Box::pin(step_limited(agent, args, subject, place, entry, limits, fail)).await
}

/// What a hook after the body decided that is held to limits.
async fn step_limited<A, Args, P>(
    agent: &A,
    args: &Args,
    subject: &mut P::Subject,
    place: Place<'_>,
    entry: &Entry<P>,
    limits: &Limits<P>,
    fail: impl FnOnce(P::Fault) -> Error<A, Args>,
) -> Result<P::Step, Error<A, Args>>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    P: After<Agent = A, Args = Args>,
{
    if !limits.applies(agent, args) {
        return Ok(P::Step::default());
    }
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
