//! The way into a call: runs its hooks around its body.

use std::future::ready;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use crate::dispatch::around::{AroundHooks, AsyncAround, NoAround, SyncAround};
use crate::dispatch::call::{BEFORE, Call, Found};
use crate::dispatch::guard::Scope;
use crate::dispatch::receiver::{Receiver, SharedReceiver};
use crate::dispatch::trace;
use crate::hook_type::Phase;
use crate::point::call_mode::{AsyncMethod, SyncMethod};
use crate::point::hook_point::{AroundPoint, AsyncBody, HookPoint};
use crate::registry::hooks::HasHooks;

/// Runs a call of an async method with `&self`.
#[inline]
pub async fn run<A, Args>(agent: &A, args: Args) -> A::Return
where
    A: ?Sized + HasHooks + AsyncBody<Args> + Sync,
    Args: 'static,
{
    let call = pin!(drive::<_, _, _, AsyncAround, _, _>(SharedReceiver(agent), args, A::body));
    scope::<A, Args, _>(call).await
}

/// Runs a call of an async method whose future is not `Send`, or which takes `&mut self`: it has no
/// around hooks.
#[inline]
pub async fn run_alone<R, A, Args, Body, Fut>(agent: R, args: Args, body: Body) -> A::Return
where
    R: Receiver<Agent = A>,
    A: ?Sized + HasHooks + HookPoint<Args, Mode = AsyncMethod>,
    Args: 'static,
    Body: FnOnce(R::Borrowed, Args) -> Fut,
    Fut: Future<Output = A::Return>,
{
    let call = pin!(drive::<_, _, _, NoAround, _, _>(agent, args, body));
    scope::<A, Args, _>(call).await
}

/// Runs a call with everything that it calls known to be inside of it. It is pinned where it was
/// made: moved into another future it would be copied whole.
#[inline]
fn scope<A: ?Sized + HookPoint<Args>, Args, F>(call: Pin<&mut F>) -> Scope<'_, F> {
    Scope::new(call, trace::span::<A, Args>())
}

/// Runs a call of a sync method with `&self`.
pub fn run_sync<A, Args>(agent: &A, args: Args) -> A::Return
where
    A: ?Sized + HasHooks + AroundPoint<Args, Mode = SyncMethod>,
    Args: 'static,
{
    let body = |agent: &A, args| ready(A::start(agent, args));
    finish::<A, Args, _>(drive::<_, _, _, SyncAround, _, _>(SharedReceiver(agent), args, body))
}

/// Runs a call of a sync method which takes `&mut self`: it has no around hooks.
pub fn run_sync_alone<R, A, Args, Body>(agent: R, args: Args, body: Body) -> A::Return
where
    R: Receiver<Agent = A>,
    A: ?Sized + HasHooks + HookPoint<Args, Mode = SyncMethod>,
    Args: 'static,
    Body: FnOnce(R::Borrowed, Args) -> A::Return,
{
    let body = |agent, args| ready(body(agent, args));
    finish::<A, Args, _>(drive::<_, _, _, NoAround, _, _>(agent, args, body))
}

/// The output of a call in which nothing waits.
fn finish<A: ?Sized + HookPoint<Args>, Args, F: Future>(call: F) -> F::Output {
    let call = pin!(call);
    let scope = pin!(scope::<A, Args, _>(call));
    match scope.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("a sync method has neither an async body nor async hooks"),
    }
}

/// The one order of things: pre hooks, around hooks and body, post hooks; error hooks if any of
/// these failed; settled hooks whatever happened.
///
/// One async block, which keeps next to nothing from one `await` to another but the [`Call`]: every
/// call has room for what it keeps.
#[inline]
fn drive<R, A, Args, Onion, Body, Fut>(
    receiver: R,
    args: Args,
    body: Body,
) -> impl Future<Output = A::Return>
where
    R: Receiver<Agent = A>,
    A: ?Sized + HasHooks + HookPoint<Args>,
    Args: 'static,
    Onion: AroundHooks<A, Args>,
    Body: FnOnce(R::Borrowed, Args) -> Fut,
    Fut: Future<Output = A::Return>,
{
    let mut args = Some(args);
    // Here and not in the block: the call is on the stack from the start of its first poll on, so nothing
    // of the user's may panic before it is there.
    let instance = receiver.borrow().hooks().id();
    async move {
        let mut answer = None;
        let mut found = Found::look(&*receiver.borrow(), instance, &mut args, &mut answer);
        let Some(found) = &mut found else {
            let args = args.take().expect(BEFORE);
            return pin!(body(receiver.borrow(), args)).await;
        };
        let mut call = Call::new(&receiver, found, &mut args, &mut answer);
        call.start();
        if let Some(at) = call.waits() {
            call.resume_pre(at).await;
        }
        let mut returned = match call.answer() {
            Some(answer) => answer,
            None => 'body: {
                let args = call.take_args();
                if call.has(Phase::Around) {
                    let agent = receiver.borrow();
                    if let Some(around) = Onion::call(&agent, &call.found.hooks, call.is_nested()) {
                        break 'body Onion::start(&around, args).await;
                    }
                }
                pin!(body(receiver.borrow(), args)).await
            }
        };
        call.start_post(&mut returned);
        if let Some(at) = call.waits() {
            call.resume_post(at, &mut returned).await;
        }
        if call.needs_error_hooks(&returned) {
            Box::pin(call.run_error(&mut returned)).await;
        }
        call.settle(&returned);
        returned
    }
}
