//! Runs the hooks of a call around its body.

use std::any::TypeId;
use std::future::ready;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::after::{After, AfterRun, ErrorStep};
use crate::around::{self, Link};
use crate::chain::{Entry, PointHooks, interest, interest_of_point};
use crate::error::HookError;
use crate::guard::{self, Frame, Scope};
use crate::hook_type::{HookType, Level, Phase};
use crate::hookable::Hookable;
use crate::lend::{Lender, Share};
use crate::limit::{Failure, limited, message_of};
use crate::options::Limits;
use crate::outcome::Outcome;
use crate::point::{
    AroundPoint, Async, Error, Fault, HookPoint, Output, Reentry, ReturnKind, Sync,
};
use crate::pre::{PreRun, PreStep};
use crate::registry::Registry;
use crate::slot::{HookSlot, Pre};

/// How deep calls of a method whose nested calls run their hooks may go.
const MAX_DEPTH: usize = 16;

/// Whether a call goes straight to the body: no hook is registered at the point on any level, or
/// the call comes from inside a call of the same method on the same instance.
#[inline]
pub fn skips_hooks<A: Hookable + HookPoint<Args>, Args: 'static>(agent: &A) -> bool {
    let bits = interest_of_point::<A, Args>();
    let on_instance = agent.hooks().get().is_some_and(|registry| registry.has_interest(bits));
    if !on_instance && !A::class().registry().has_interest(bits) {
        return true;
    }
    A::REENTRY == Reentry::Skip && guard::depth(frame::<A, Args>(agent)) > 0
}

/// Runs a call of an async method with `&self`.
pub fn run<'a, A, Args, Body, Fut>(
    agent: &'a A,
    args: Args,
    body: Body,
) -> impl Future<Output = A::Return>
where
    A: Hookable + AroundPoint<Args, Mode = Async>,
    Args: 'static,
    Body: FnOnce(&'a A, Args) -> Fut,
    Fut: Future<Output = A::Return>,
{
    let frame = frame::<A, Args>(agent);
    let core = |agent: &'a A, args| async move {
        if !has_hooks::<A, Args>(agent, Phase::Around) {
            return body(agent, args).await;
        }
        // What few calls need is boxed: every call has room for what is not.
        Box::pin(async move {
            let snapshots = snapshots(agent, Phase::Around);
            let links = around_links(&snapshots);
            around::start(agent, args, &links, A::start).await
        })
        .await
    };
    Scope { frame, future: drive(frame, Share(agent), args, core) }
}

/// Runs a call of an async method whose future is not `Send`, or which takes `&mut self`: it has no
/// around hooks.
pub fn run_alone<L, A, Args, Body, Fut>(
    agent: L,
    args: Args,
    body: Body,
) -> impl Future<Output = A::Return>
where
    L: Lender<Agent = A>,
    A: Hookable + HookPoint<Args, Mode = Async>,
    Args: 'static,
    Body: FnOnce(L::Lent, Args) -> Fut,
    Fut: Future<Output = A::Return>,
{
    let frame = frame_of::<L, Args>(&agent);
    Scope { frame, future: drive(frame, agent, args, body) }
}

/// Runs a call of a sync method with `&self`.
pub fn run_sync<A, Args, Body>(agent: &A, args: Args, body: Body) -> A::Return
where
    A: Hookable + AroundPoint<Args, Mode = Sync>,
    Args: 'static,
    Body: FnOnce(&A, Args) -> A::Return,
{
    let frame = frame::<A, Args>(agent);
    let core = |agent: &A, args| {
        if !has_hooks::<A, Args>(agent, Phase::Around) {
            return ready(body(agent, args));
        }
        let snapshots = snapshots(agent, Phase::Around);
        let links = around_links(&snapshots);
        ready(around::start(agent, args, &links, A::start))
    };
    finish(Scope { frame, future: drive(frame, Share(agent), args, core) })
}

/// Runs a call of a sync method which takes `&mut self`: it has no around hooks.
pub fn run_sync_alone<L, A, Args, Body>(agent: L, args: Args, body: Body) -> A::Return
where
    L: Lender<Agent = A>,
    A: Hookable + HookPoint<Args, Mode = Sync>,
    Args: 'static,
    Body: FnOnce(L::Lent, Args) -> A::Return,
{
    let frame = frame_of::<L, Args>(&agent);
    let core = |agent, args| ready(body(agent, args));
    finish(Scope { frame, future: drive(frame, agent, args, core) })
}

/// The one order of things: pre hooks, around hooks and body, post hooks; error hooks if any of
/// these failed; settled hooks whatever happened.
///
/// One async block, which uses its arguments where they are: an `async fn` keeps room for each of
/// its arguments twice, and the arguments of a call may be large.
#[expect(clippy::manual_async_fn, reason = "see above")]
fn drive<L, A, Args, Core, Fut>(
    frame: Frame,
    lender: L,
    mut args: Args,
    core: Core,
) -> impl Future<Output = A::Return>
where
    L: Lender<Agent = A>,
    A: Hookable + HookPoint<Args>,
    Args: 'static,
    Core: FnOnce(L::Lent, Args) -> Fut,
    Fut: Future<Output = A::Return>,
{
    async move {
        let settle = Settle::<L, A, Args> { lender: &lender, frame, args: PhantomData };
        let answered = match check_reentry::<A, Args>(frame) {
            Ok(()) => {
                let agent = lender.lend();
                let hooks = snapshots(&*agent, Phase::Pre);
                match run_pre(&*agent, &mut args, &hooks).await {
                    Ok(None) => Ok(Err(keep(&*agent, &args, &hooks))),
                    Ok(Some(output)) => Ok(Ok(output)),
                    Err(error) => Err(error),
                }
            }
            Err(error) => Err(error),
        };
        let (kept, returned) = match answered {
            Ok(Err(kept)) => (kept, A::Kind::split(core(lender.lend(), args).await)),
            Ok(Ok(output)) => (Some(args), Ok(output)),
            Err(error) => (Some(args), Err(error)),
        };
        let result = match &kept {
            None => returned,
            Some(args) => {
                let agent = lender.lend();
                finish_with(&*agent, args, returned).await
            }
        };
        settle.with(&result);
        A::Kind::join(result)
    }
}

/// Runs the hooks after the body, or after what came in its place.
async fn finish_with<A, Args>(
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
async fn run_pre<A, Args>(
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
                    hook(agent, args).map_err(|fault| fail(agent, fault, level, entry))?
                }
                (None, PreRun::Async(hook, _)) => {
                    let step = hook.start(agent, args).await;
                    step.map_err(|fault| fail(agent, fault, level, entry))?
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
    if let Ok(Ok(step)) = result {
        return Ok(step);
    }
    let is_ignored = saved.is_some();
    if let Some(saved) = saved {
        *args = saved;
    }
    let failed = match result {
        Ok(Ok(_)) => return Ok(PreStep::Continue),
        Ok(Err(fault)) => Some(fail(agent, fault, level, entry)),
        Err(failure) => raise::<A, Args, _>(failure, level, entry),
    };
    match failed {
        Some(error) if !is_ignored => Err(error),
        _ => Ok(PreStep::Continue),
    }
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
            let fail = |fault| fail(agent, fault, level, entry);
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
    if let Ok(Ok(step)) = result {
        return Ok(step);
    }
    let is_ignored = saved.is_some();
    if let Some(saved) = saved {
        *subject = saved;
    }
    let failed = match result {
        Ok(Ok(_)) => return Ok(P::Step::default()),
        Ok(Err(fault)) => Some(fail(fault)),
        Err(failure) => raise::<A, Args, _>(failure, level, entry),
    };
    match failed {
        Some(error) if !is_ignored => Err(error),
        _ => Ok(P::Step::default()),
    }
}

/// Tells the settled hooks how a call ended, once, whatever happens.
struct Settle<'s, L, A, Args>
where
    L: Lender<Agent = A>,
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    lender: &'s L,
    frame: Frame,
    args: PhantomData<fn(Args)>,
}

impl<L, A, Args> Settle<'_, L, A, Args>
where
    L: Lender<Agent = A>,
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    /// The call came to its end.
    fn with(self, result: &Result<Output<A, Args>, Error<A, Args>>) {
        self.run(&match result {
            Ok(output) => Outcome::Ok(output),
            Err(error) => Outcome::Err(error),
        });
        std::mem::forget(self);
    }

    fn run(&self, outcome: &Outcome<'_, Output<A, Args>, Error<A, Args>>) {
        let agent = self.lender.lend();
        for (level, hooks) in snapshots::<A, Args>(&agent, Phase::Settled) {
            let Some(hooks) = hooks else { continue };
            for entry in hooks.settled.entries() {
                if entry.limits.as_ref().is_some_and(|limits| !limits.fire()) {
                    continue;
                }
                remove_spent::<A, Args, _>(&*agent, level, entry);
                let run = || (entry.hook.run)(&*agent, outcome);
                // A panic here would take the place of the outcome, or end the program.
                if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
                    report::<A, Args, _>(level, entry, &message_of(&*panic));
                }
            }
        }
    }
}

impl<L, A, Args> Drop for Settle<'_, L, A, Args>
where
    L: Lender<Agent = A>,
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    fn drop(&mut self) {
        // A panic of this call unwinds while it is being polled; a drop comes from outside.
        let panicked = std::thread::panicking() && guard::depth(self.frame) > 0;
        self.run(&if panicked { Outcome::Panicked } else { Outcome::Cancelled });
    }
}

fn check_reentry<A: HookPoint<Args>, Args: 'static>(frame: Frame) -> Result<(), Error<A, Args>> {
    // This call is on the stack itself.
    let outer = || guard::depth(frame).saturating_sub(1);
    let method = || A::METHOD.to_owned();
    let refused = match A::REENTRY {
        Reentry::Deny if outer() > 0 => HookError::Reentered { method: method() },
        Reentry::Run if outer() >= MAX_DEPTH => {
            HookError::TooDeep { method: method(), depth: MAX_DEPTH }
        }
        _ => return Ok(()),
    };
    A::Kind::raise(refused).map_or(Ok(()), Err)
}

/// A copy of the arguments if a hook will want to see them once the body has consumed them. The
/// hooks are those that the call started with; a pre hook may have registered more.
fn keep<A, Args>(agent: &A, args: &Args, hooks: &[(Level, Snapshot<A, Args>); 2]) -> Option<Args>
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    let is_wanted = |phase| has_hooks::<A, Args>(agent, phase);
    if !is_wanted(Phase::Post) && !is_wanted(Phase::Error) {
        return None;
    }
    let keep = keep_of(hooks)
        .or_else(|| keep_of(&snapshots(agent, Phase::Post)))
        .or_else(|| keep_of(&snapshots(agent, Phase::Error)));
    keep.map(|keep| keep(args))
}

/// How a hook that wants the arguments copies them.
fn keep_of<A: HookPoint<Args>, Args: 'static>(
    hooks: &[(Level, Snapshot<A, Args>); 2],
) -> Option<fn(&Args) -> Args> {
    hooks.iter().find_map(|(_, hooks)| {
        let hooks = hooks.as_ref()?;
        let post = hooks.post.entries().first().map(|entry| entry.hook.keep);
        post.or_else(|| hooks.error.entries().first().map(|entry| entry.hook.keep))
    })
}

type Snapshot<A, Args> = Option<Arc<PointHooks<A, Args>>>;

/// Whether the phase has hooks on any level.
fn has_hooks<A, Args>(agent: &A, phase: Phase) -> bool
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    let bit = interest::<A, Args>(phase);
    agent.hooks().get().is_some_and(|registry| registry.has_interest(bit))
        || A::class().registry().has_interest(bit)
}

/// The hooks of the point as they are now, in the order of the levels, where the phase has some.
fn snapshots<A, Args>(agent: &A, phase: Phase) -> [(Level, Snapshot<A, Args>); 2]
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
{
    let bit = interest::<A, Args>(phase);
    let interested = |registry: &&Registry| registry.has_interest(bit);
    let instance = agent.hooks().get().filter(interested);
    let class = Some(A::class().registry()).filter(interested);
    [
        (Level::Instance, instance.and_then(Registry::snapshot)),
        (Level::Class, class.and_then(Registry::snapshot)),
    ]
}

/// The around hooks, outermost first.
fn around_links<A: HookPoint<Args>, Args: 'static>(
    snapshots: &[(Level, Snapshot<A, Args>); 2],
) -> Vec<Link<'_, A, Args>> {
    let chains = snapshots.iter().filter_map(|(level, hooks)| Some((*level, hooks.as_ref()?)));
    chains
        .flat_map(|(level, hooks)| hooks.around.entries().iter().map(move |entry| (level, entry)))
        .collect()
}

/// Takes a hook that was to run once out of its registry.
fn remove_spent<A, Args, P>(agent: &A, level: Level, entry: &Entry<P>)
where
    A: Hookable + HookPoint<Args>,
    Args: 'static,
    P: HookSlot,
{
    if entry.is_spent() {
        let registry = match level {
            Level::Instance => agent.hooks().get_or_init(),
            Level::Class => A::class().registry(),
        };
        registry.edit(PointHooks::<A, Args>::remove_spent);
    }
}

/// The error of a call that a hook failed; one that is ignored is reported.
#[cold]
fn fail<A, Args, P>(
    _agent: &A,
    fault: Fault<A, Args>,
    level: Level,
    entry: &Entry<P>,
) -> Error<A, Args>
where
    A: HookPoint<Args>,
    P: HookSlot,
{
    A::Kind::fail(fault, |source| {
        if entry.limits.as_ref().is_some_and(|limits| limits.undo.is_some()) {
            report::<A, Args, _>(level, entry, &source.to_string());
        }
        HookError::Failed {
            hook: entry.name.to_string(),
            hook_type: HookType::new(P::PHASE, A::METHOD),
            level,
            source,
        }
    })
}

/// The error of a call whose hook was stopped; one that is ignored is reported.
#[cold]
fn raise<A, Args, P>(failure: Failure, level: Level, entry: &Entry<P>) -> Option<Error<A, Args>>
where
    A: HookPoint<Args>,
    P: HookSlot,
{
    match failure {
        Failure::Panicked(message) => {
            report::<A, Args, _>(level, entry, &format!("it panicked: {message}"));
            None
        }
        Failure::TimedOut(after) => {
            let hook_type = HookType::new(P::PHASE, A::METHOD);
            let hook = entry.name.to_string();
            let error = HookError::TimedOut { hook, hook_type, level, after };
            if entry.limits.as_ref().is_some_and(|limits| limits.undo.is_some()) {
                report::<A, Args, _>(level, entry, &error.to_string());
            }
            A::Kind::raise(error).ok()
        }
    }
}

/// Says that a hook failed and was ignored.
fn report<A: HookPoint<Args>, Args, P: HookSlot>(level: Level, entry: &Entry<P>, reason: &str) {
    let hook_type = HookType::new(P::PHASE, A::METHOD);
    tracing::warn!(hook = &*entry.name, %hook_type, %level, reason, "a hook failed and is ignored");
}

fn frame<A: Hookable, Args: 'static>(agent: &A) -> Frame {
    Frame { instance: std::ptr::from_ref(agent.hooks()).addr(), point: TypeId::of::<Args>() }
}

fn frame_of<L: Lender<Agent: Hookable>, Args: 'static>(lender: &L) -> Frame {
    frame::<L::Agent, Args>(&lender.lend())
}

/// The output of a future in which nothing waits.
fn finish<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("a sync method has neither an async body nor async hooks"),
    }
}
