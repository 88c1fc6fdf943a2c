//! The one order of things in a call: pre hooks, around hooks and body, post hooks; error hooks if any of
//! these failed; settled hooks whatever happened.

use std::pin::pin;

use crate::dispatch::around::{AroundHooks, AroundNow};
use crate::dispatch::call::Call;
use crate::dispatch::receiver::Receiver;
use crate::dispatch::way::Visit;
use crate::hook_type::Phase;
use crate::point::call_mode::SyncMethod;
use crate::point::hook_point::HookPoint;
use crate::registry::hooks::HasHooks;

/// Runs the whole of a call.
///
/// One async block, which keeps next to nothing from one `await` to another but the [`Call`]: every
/// call has room for what it keeps.
#[inline]
pub(super) fn drive<R, A, Args, Onion, Body, Fut>(
    receiver: R,
    visit: Visit<'_>,
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
    let (mut args, mut answer) = (Some(args), None);
    async move {
        let mut call = Call::new(&receiver, &visit, &mut args, &mut answer);
        call.start();
        if let Some(at) = call.waits() {
            call.run_pre(at).await;
        }
        let mut returned = match call.answer() {
            Some(answer) => answer,
            None => 'body: {
                let args = call.take_args();
                if call.has(Phase::Around) {
                    let agent = receiver.borrow();
                    if let Some(around) = Onion::call(&agent, call.hooks, call.is_nested()) {
                        break 'body Onion::start(&around, args).await;
                    }
                }
                pin!(body(receiver.borrow(), args)).await
            }
        };
        if call.has(Phase::Post) {
            call.run_post(&mut returned).await;
        }
        if call.needs_error_hooks(&returned) {
            Box::pin(call.run_error(&mut returned)).await;
        }
        call.settle(&returned);
        returned
    }
}

/// Runs the error hooks of a call that has failed, whose other hooks have run.
pub(super) async fn fail<R, A, Args>(
    receiver: R,
    visit: Visit<'_>,
    args: Args,
    mut returned: A::Return,
) -> A::Return
where
    R: Receiver<Agent = A>,
    A: ?Sized + HasHooks + HookPoint<Args>,
    Args: 'static,
{
    let (mut args, mut answer) = (Some(args), None);
    let mut call = Call::new(&receiver, &visit, &mut args, &mut answer);
    call.run_error(&mut returned).await;
    returned
}

/// Runs the whole of a call in which nothing waits.
pub(super) fn drive_now<R, A, Args, Onion>(
    receiver: &R,
    visit: &Visit<'_>,
    args: Args,
    body: impl FnOnce(R::Borrowed, Args) -> A::Return,
) -> A::Return
where
    R: Receiver<Agent = A>,
    A: ?Sized + HasHooks + HookPoint<Args, Mode = SyncMethod>,
    Args: 'static,
    Onion: AroundNow<A, Args>,
{
    let (mut args, mut answer) = (Some(args), None);
    let mut call = Call::new(receiver, visit, &mut args, &mut answer);
    call.start();
    if let Some(at) = call.waits() {
        call.run_pre_now(at);
    }
    let mut returned = match call.answer() {
        Some(answer) => answer,
        None => 'body: {
            let args = call.take_args();
            if call.has(Phase::Around) {
                let agent = receiver.borrow();
                if let Some(around) = Onion::call(&agent, call.hooks, call.is_nested()) {
                    break 'body Onion::now(&around, args);
                }
            }
            body(receiver.borrow(), args)
        }
    };
    if call.has(Phase::Post) {
        call.run_post_now(&mut returned);
    }
    if call.needs_error_hooks(&returned) {
        call.run_error_now(&mut returned);
    }
    call.settle(&returned);
    returned
}
