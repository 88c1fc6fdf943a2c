//! Runs the hooks of a call around its body.

use std::any::TypeId;
use std::ops::Deref;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::answer::PreStep;
use crate::chain::{Entry, PointHooks, interest};
use crate::error::{BoxError, HookError};
use crate::guard::{self, Frame};
use crate::hook::{PostRun, PreRun};
use crate::hook_type::{HookType, Level, Phase};
use crate::hookable::Hookable;
use crate::point::{Async, Error, Fault, HookPoint, Output, ReturnKind, Sync};
use crate::registry::Registry;

/// Whether a call goes straight to the body: no hook is registered at the point on any level, or
/// the call comes from inside a call of the same method on the same instance.
#[inline]
pub fn skips_hooks<A: Hookable + HookPoint<Args>, Args: 'static>(agent: &A) -> bool {
    let bit = interest::<A, Args>();
    let on_instance = agent.hooks().get().is_some_and(|registry| registry.has_interest(bit));
    if !on_instance && !A::class().registry().has_interest(bit) {
        return true;
    }
    guard::is_inside(frame::<A, Args>(agent))
}

/// Runs a call of an async method with `&self`.
pub async fn run<'a, A, Args, Body, Fut>(agent: &'a A, args: Args, body: Body) -> A::Return
where
    A: Hookable + HookPoint<Args, Mode = Async>,
    Args: 'static,
    Body: FnOnce(&'a A, Args) -> Fut,
    Fut: Future<Output = A::Return>,
{
    run_mut(agent, args, |agent, args| async move { (agent, body(agent, args).await) }).await
}

/// Runs a call of an async method with `&mut self`: the body gives the receiver back.
pub async fn run_mut<R, A, Args, Body, Fut>(agent: R, args: Args, body: Body) -> A::Return
where
    R: Deref<Target = A>,
    A: Hookable + HookPoint<Args, Mode = Async>,
    Args: 'static,
    Body: FnOnce(R, Args) -> Fut,
    Fut: Future<Output = (R, A::Return)>,
{
    let frame = frame::<A, Args>(&agent);
    guard::scope(frame, pin!(drive(agent, args, body))).await
}

/// Runs a call of a sync method with `&self`.
pub fn run_sync<A, Args, Body>(agent: &A, args: Args, body: Body) -> A::Return
where
    A: Hookable + HookPoint<Args, Mode = Sync>,
    Args: 'static,
    Body: FnOnce(&A, Args) -> A::Return,
{
    run_sync_mut(agent, args, |agent, args| (agent, body(agent, args)))
}

/// Runs a call of a sync method with `&mut self`: the body gives the receiver back.
pub fn run_sync_mut<R, A, Args, Body>(agent: R, args: Args, body: Body) -> A::Return
where
    R: Deref<Target = A>,
    A: Hookable + HookPoint<Args, Mode = Sync>,
    Args: 'static,
    Body: FnOnce(R, Args) -> (R, A::Return),
{
    let frame = frame::<A, Args>(&agent);
    let call = drive(agent, args, |agent, args| std::future::ready(body(agent, args)));
    finish(guard::scope(frame, pin!(call)))
}

/// The one order of things: pre hooks, body, post hooks.
async fn drive<R, A, Args, Body, Fut>(agent: R, mut args: Args, body: Body) -> A::Return
where
    R: Deref<Target = A>,
    A: Hookable + HookPoint<Args>,
    Args: 'static,
    Body: FnOnce(R, Args) -> Fut,
    Fut: Future<Output = (R, A::Return)>,
{
    let outcome = async {
        let (agent, kept, mut output) = match run_pre(&*agent, &mut args).await? {
            Some(output) => (agent, Some(args), output),
            None => {
                let kept = keep(&*agent, &args);
                let (agent, returned) = body(agent, args).await;
                (agent, kept, A::Kind::split(returned)?)
            }
        };
        if let Some(args) = kept {
            run_post(&*agent, &args, &mut output).await?;
        }
        Ok(output)
    };
    A::Kind::join(outcome.await)
}

/// Runs the pre hooks; the output is there if one of them answered in place of the body.
async fn run_pre<A, Args>(
    agent: &A,
    args: &mut Args,
) -> Result<Option<Output<A, Args>>, Error<A, Args>>
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    for (level, hooks) in levels(agent) {
        let Some(hooks) = hooks else { continue };
        for entry in hooks.pre.entries() {
            let step = match &entry.hook.run {
                PreRun::Sync(hook) => hook(agent, args),
                PreRun::Async(hook, _) => hook.start(agent, args).await,
            };
            match step.map_err(|fault| fail::<A, Args, _>(fault, entry, level, Phase::Pre))? {
                PreStep::Continue => {}
                PreStep::Replace(replaced) => *args = replaced,
                PreStep::Return(output) => return Ok(Some(output)),
            }
        }
    }
    Ok(None)
}

/// Runs the post hooks that are registered by now.
async fn run_post<A, Args>(
    agent: &A,
    args: &Args,
    output: &mut Output<A, Args>,
) -> Result<(), Error<A, Args>>
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    for (level, hooks) in levels(agent) {
        let Some(hooks) = hooks else { continue };
        for entry in hooks.post.entries() {
            let replaced = match &entry.hook.run {
                PostRun::Sync(hook) => hook(agent, args, output),
                PostRun::Async(hook, _) => hook.start(agent, args, output).await,
            };
            match replaced.map_err(|fault| fail::<A, Args, _>(fault, entry, level, Phase::Post))? {
                None => {}
                Some(replaced) => *output = replaced,
            }
        }
    }
    Ok(())
}

/// A copy of the arguments if a post hook will want to see them once the body has consumed them.
fn keep<A, Args>(agent: &A, args: &Args) -> Option<Args>
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    let hooks = levels(agent).into_iter().find_map(|(_, hooks)| {
        hooks.and_then(|hooks| hooks.post.entries().first().map(|entry| entry.hook.keep))
    });
    hooks.map(|keep| keep(args))
}

type Snapshot<A, Args> = Option<Arc<PointHooks<A, Args>>>;

/// The hooks of the point as they are now, in the order of the levels.
fn levels<A, Args>(agent: &A) -> [(Level, Snapshot<A, Args>); 2]
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    let bit = interest::<A, Args>();
    let interested = |registry: &&Registry| registry.has_interest(bit);
    let instance = agent.hooks().get().filter(interested);
    let class = Some(A::class().registry()).filter(interested);
    [
        (Level::Instance, instance.and_then(Registry::snapshot)),
        (Level::Class, class.and_then(Registry::snapshot)),
    ]
}

#[cold]
fn fail<A, Args, H>(
    fault: Fault<A, Args>,
    entry: &Entry<H>,
    level: Level,
    phase: Phase,
) -> Error<A, Args>
where
    A: HookPoint<Args>,
{
    A::Kind::fail(fault, |source: BoxError| HookError::Failed {
        hook: entry.name.to_string(),
        hook_type: HookType::new(phase, A::METHOD),
        level,
        source,
    })
}

fn frame<A: Hookable, Args: 'static>(agent: &A) -> Frame {
    Frame { instance: std::ptr::from_ref(agent.hooks()).addr(), point: TypeId::of::<Args>() }
}

/// The output of a future in which nothing waits.
fn finish<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("a sync method has neither an async body nor async hooks"),
    }
}
