//! Runs the hooks of a call around its body.

use std::future::ready;
use std::marker::PhantomData;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::around::Call;
use crate::before::{continue_pre, start_pre};
use crate::chain::interest_of_point;
use crate::error::HookError;
use crate::finish::finish_with;
use crate::guard::{self, Frame, Scope, instance_of};
use crate::hook_type::Phase;
use crate::hookable::HasHooks;
use crate::lend::{Lender, Share};
use crate::mode::{AroundCall, Async, Sync};
use crate::point::{AroundPoint, Error, HookPoint, Reentry, ReturnKind};
use crate::progress::Progress;
use crate::settle::Settle;
use crate::snapshot::{Snapshot, has_hooks, has_interest, keep_args};
use crate::trace;

/// How deep calls of a method whose nested calls run their hooks may go.
const MAX_DEPTH: usize = 16;

/// Whether a call goes straight to the body: no hook is registered at the point on any level, or
/// the call comes from inside a call of the same method on the same instance.
#[inline]
pub fn skips_hooks<A: HasHooks + HookPoint<Args>, Args: 'static>(agent: &A) -> bool {
    is_unhooked::<A, Args>(agent)
        || A::REENTRY == Reentry::Skip && guard::depth(Frame::of::<Args>(agent.hooks())) > 0
}

/// Whether no hook is registered at the point on any level.
#[inline]
pub fn is_unhooked<A: HasHooks + HookPoint<Args>, Args: 'static>(agent: &A) -> bool {
    !has_interest::<A, Args>(agent, interest_of_point::<A, Args>())
}

/// Runs a call of an async method with `&self`.
pub fn run<'a, A, Args, Body, Fut>(
    agent: &'a A,
    args: Args,
    body: Body,
) -> impl Future<Output = A::Return>
where
    A: HasHooks + AroundPoint<Args, Mode = Async> + std::marker::Sync,
    Args: 'static,
    Body: FnOnce(&'a A, Args) -> Fut,
    Fut: Future<Output = A::Return>,
{
    let core = |agent: &'a A, args| async move {
        if !has_hooks::<A, Args>(agent, Phase::Around) {
            return body(agent, args).await;
        }
        // What few calls need is boxed: every call has room for what is not.
        Box::pin(async move {
            let hooks = Snapshot::take(agent, Phase::Around);
            let call = Call::new(agent, &hooks);
            let returned = call.start(&call, 0, args).await;
            call.remove_spent();
            returned
        })
        .await
    };
    Scope::<Args, _>::new(
        instance_of(agent.hooks()),
        trace::span::<A, Args>(),
        drive(Share(agent), args, core),
    )
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
    A: HasHooks + HookPoint<Args, Mode = Async>,
    Args: 'static,
    Body: FnOnce(L::Lent, Args) -> Fut,
    Fut: Future<Output = A::Return>,
{
    let instance = instance_of(agent.lend().hooks());
    Scope::<Args, _>::new(instance, trace::span::<A, Args>(), drive(agent, args, body))
}

/// Runs a call of a sync method with `&self`.
pub fn run_sync<A, Args, Body>(agent: &A, args: Args, body: Body) -> A::Return
where
    A: HasHooks + AroundPoint<Args, Mode = Sync>,
    Args: 'static,
    Body: FnOnce(&A, Args) -> A::Return,
{
    let core = |agent: &A, args| {
        if !has_hooks::<A, Args>(agent, Phase::Around) {
            return ready(body(agent, args));
        }
        let hooks = Snapshot::take(agent, Phase::Around);
        let call = Call::new(agent, &hooks);
        let returned = call.start(&call, 0, args);
        call.remove_spent();
        ready(returned)
    };
    finish(Scope::<Args, _>::new(
        instance_of(agent.hooks()),
        trace::span::<A, Args>(),
        drive(Share(agent), args, core),
    ))
}

/// Runs a call of a sync method which takes `&mut self`: it has no around hooks.
pub fn run_sync_alone<L, A, Args, Body>(agent: L, args: Args, body: Body) -> A::Return
where
    L: Lender<Agent = A>,
    A: HasHooks + HookPoint<Args, Mode = Sync>,
    Args: 'static,
    Body: FnOnce(L::Lent, Args) -> A::Return,
{
    let instance = instance_of(agent.lend().hooks());
    let core = |agent, args| ready(body(agent, args));
    finish(Scope::<Args, _>::new(instance, trace::span::<A, Args>(), drive(agent, args, core)))
}

/// The one order of things: pre hooks, around hooks and body, post hooks; error hooks if any of
/// these failed; settled hooks whatever happened.
///
/// One async block, which uses its arguments where they are: an `async fn` keeps room for each of
/// its arguments twice, and the arguments of a call may be large.
#[expect(clippy::manual_async_fn, reason = "see above")]
fn drive<L, A, Args, Core, Fut>(
    lender: L,
    mut args: Args,
    core: Core,
) -> impl Future<Output = A::Return>
where
    L: Lender<Agent = A>,
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
    Core: FnOnce(L::Lent, Args) -> Fut,
    Fut: Future<Output = A::Return>,
{
    async move {
        // A call that is refused runs no hook: it is one of its own hooks that may have made it.
        if let Err(error) = check_reentry::<A, Args>(&*lender.lend()) {
            return A::Kind::join(Err(error));
        }
        let settle = Settle::<L, A, Args> { lender: &lender, args: PhantomData };
        let answer = {
            let agent = lender.lend();
            match start_pre(&*agent, &mut args) {
                Progress::Done(answer) => answer,
                Progress::Waits(hooks, place) => {
                    continue_pre(&*agent, &mut args, hooks, place).await
                }
            }
        };
        let (args, answered) = match answer {
            Ok(None) => {
                let kept = keep_args(&*lender.lend(), &args);
                let returned = core(lender.lend(), args).await;
                let Some(args) = kept else {
                    settle.with(&returned);
                    return returned;
                };
                (args, A::Kind::split(returned))
            }
            Ok(Some(output)) => (args, Ok(output)),
            Err(error) => (args, Err(error)),
        };
        let finished = {
            let agent = lender.lend();
            finish_with(&*agent, &args, answered).await
        };
        let returned = A::Kind::join(finished);
        settle.with(&returned);
        returned
    }
}

fn check_reentry<A, Args>(agent: &A) -> Result<(), Error<A, Args>>
where
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    // This call is on the stack itself.
    let outer = || guard::depth(Frame::of::<Args>(agent.hooks())).saturating_sub(1);
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

/// The output of a future in which nothing waits.
fn finish<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("a sync method has neither an async body nor async hooks"),
    }
}
