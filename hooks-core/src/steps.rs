//! The hooks of a call, phase by phase: what each decides is what the next one sees.

use crate::after::{After, AfterRun, ErrorStep};
use crate::entry::Entry;
use crate::failure::{conclude, fail};
use crate::hook_type::{Level, Phase};
use crate::hookable::Hookable;
use crate::limit::limited;
use crate::options::Limits;
use crate::point::{Error, HookPoint, Output};
use crate::pre::{PreRun, PreStep};
use crate::slot::Pre;
use crate::snapshot::{Snapshot, remove_spent, snapshots};

/// Runs the hooks after the body, or after what came in its place.
pub(crate) async fn finish_with<A, Args>(
    agent: &A,
    args: &Args,
    returned: Result<Output<A, Args>, Error<A, Args>>,
) -> Result<Output<A, Args>, Error<A, Args>>
where
    A: Hookable + HookPoint<Args>,
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
    hooks: &[(Level, Snapshot<A, Args>); 2],
) -> Result<Option<Output<A, Args>>, Error<A, Args>>
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    for (level, hooks) in hooks {
        let (level, Some(hooks)) = (*level, hooks) else { continue };
        for entry in hooks.pre.entries() {
            let step = match (&entry.limits, &entry.hook.run) {
                (Some(limits), _) => {
                    Box::pin(run_limited_pre(agent, args, level, entry, limits)).await?
                }
                (None, PreRun::Sync(hook)) => {
                    hook(agent, args).map_err(|fault| fail::<A, Args, _>(fault, level, entry))?
                }
                (None, PreRun::Async(hook, _)) => {
                    let step = hook.start(agent, args).await;
                    step.map_err(|fault| fail::<A, Args, _>(fault, level, entry))?
                }
            };
            match step {
                PreStep::Continue => {}
                PreStep::Replace(replaced) => *args = replaced,
                PreStep::Return(output) => return Ok(Some(output)),
            }
        }
    }
    Ok(None)
}

/// Runs a pre hook that is held to limits.
async fn run_limited_pre<A, Args>(
    agent: &A,
    args: &mut Args,
    level: Level,
    entry: &Entry<Pre<A, Args>>,
    limits: &Limits<Pre<A, Args>>,
) -> Result<PreStep<Args, Output<A, Args>>, Error<A, Args>>
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    if !limits.applies(agent, args) {
        return Ok(PreStep::Continue);
    }
    remove_spent::<A, Args, _>(agent, level, entry);
    let saved = limits.undo.map(|undo| undo(args));
    let run = async {
        match &entry.hook.run {
            PreRun::Sync(hook) => hook(agent, args),
            PreRun::Async(hook, _) => hook.start(agent, args).await,
        }
    };
    let result = limited(limits, run).await;
    let fail = |fault| fail::<A, Args, _>(fault, level, entry);
    let step = conclude::<A, Args, _, _, _>(result, args, saved, level, entry, fail)?;
    Ok(step.unwrap_or(PreStep::Continue))
}

/// Runs the post hooks that are registered by now.
async fn run_post<A, Args>(
    agent: &A,
    args: &Args,
    mut output: Output<A, Args>,
) -> Result<Output<A, Args>, Error<A, Args>>
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    for (level, hooks) in snapshots(agent, Phase::Post) {
        let Some(hooks) = hooks else { continue };
        for entry in hooks.post.entries() {
            let fail = |fault| fail::<A, Args, _>(fault, level, entry);
            if let Some(replaced) = step_after(agent, args, &mut output, level, entry, fail).await?
            {
                output = replaced;
            }
        }
    }
    Ok(output)
}

/// Runs the error hooks that are registered by now.
async fn run_error<A, Args>(
    agent: &A,
    args: &Args,
    mut error: Error<A, Args>,
) -> Result<Output<A, Args>, Error<A, Args>>
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    for (level, hooks) in snapshots(agent, Phase::Error) {
        let Some(hooks) = hooks else { continue };
        for entry in hooks.error.entries() {
            let never = |fault: std::convert::Infallible| match fault {};
            match step_after(agent, args, &mut error, level, entry, never).await? {
                ErrorStep::Keep => {}
                ErrorStep::Replace(replaced) => error = replaced,
                ErrorStep::Recover(output) => return Ok(output),
            }
        }
    }
    Err(error)
}

/// What a hook after the body decided; nothing if it does not apply, or failed and is ignored.
async fn step_after<A, Args, P>(
    agent: &A,
    args: &Args,
    subject: &mut P::Subject,
    level: Level,
    entry: &Entry<P>,
    fail: impl FnOnce(P::Fault) -> Error<A, Args>,
) -> Result<P::Step, Error<A, Args>>
where
    A: Hookable + HookPoint<Args>,
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
    Box::pin(step_limited(agent, args, subject, level, entry, limits, fail)).await
}

/// What a hook after the body decided that is held to limits.
async fn step_limited<A, Args, P>(
    agent: &A,
    args: &Args,
    subject: &mut P::Subject,
    level: Level,
    entry: &Entry<P>,
    limits: &Limits<P>,
    fail: impl FnOnce(P::Fault) -> Error<A, Args>,
) -> Result<P::Step, Error<A, Args>>
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
    P: After<Agent = A, Args = Args>,
{
    if !limits.applies(agent, args) {
        return Ok(P::Step::default());
    }
    remove_spent::<A, Args, _>(agent, level, entry);
    let saved = limits.undo.map(|undo| undo(subject));
    let run = async {
        match &entry.hook.run {
            AfterRun::Sync(hook) => hook(agent, args, subject),
            AfterRun::Async(hook, _) => hook.start(agent, args, subject).await,
        }
    };
    let result = limited(limits, run).await;
    let step = conclude::<A, Args, _, _, _>(result, subject, saved, level, entry, fail)?;
    Ok(step.unwrap_or_default())
}
