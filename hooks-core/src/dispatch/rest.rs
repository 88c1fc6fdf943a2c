//! The rest of a call: all that needs more than its body and simple hooks.

use crate::dispatch::around::{AroundCall, AsyncAround, SyncAround};
use crate::dispatch::drive::{drive, drive_now};
use crate::dispatch::receiver::SharedReceiver;
use crate::dispatch::way::Visit;
use crate::point::call_mode::{BoxFuture, Position, RestOfCall, SyncMethod};
use crate::point::hook_point::{AroundPoint, AsyncBody, Error, HookPoint, Output};

/// Where the rest of a call is that needs more than its body and simple hooks.
#[doc(hidden)]
#[expect(private_interfaces, reason = "implemented and called here only")]
pub trait Rest<A: ?Sized + HookPoint<Args>, Args> {
    /// Runs the whole of a call.
    fn drive<'a>(_: &'a A, _: Visit<'a>, _: Args) -> BoxFuture<'a, A::Return>
    where
        Args: 'static,
    {
        unreachable!("{ELSEWHERE}")
    }

    /// Runs the whole of a call of a sync method.
    fn drive_now(_: &A, _: &Visit<'_>, _: Args) -> A::Return
    where
        Args: 'static,
    {
        unreachable!("{ELSEWHERE}")
    }

    /// Runs around hooks and body.
    fn around<'a>(_: &'a AroundCall<'a, A, Args>, _: Args) -> BoxFuture<'a, A::Return>
    where
        Args: 'static,
    {
        unreachable!("{ELSEWHERE}")
    }

    /// Runs around hooks and body of a sync method.
    fn around_now(_: &AroundCall<'_, A, Args>, _: Args) -> A::Return
    where
        Args: 'static,
    {
        unreachable!("{ELSEWHERE}")
    }
}

const ELSEWHERE: &str = "the rest of such a call is elsewhere";

/// What may go to another thread: the arguments of an async method, and what it returns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not `Send`, so the hooks of the method cannot go to another thread",
    label = "an async method with an argument or an output that is not `Send`",
    note = "write `#[hook(?Send)]` on the method: it has no around hooks then"
)]
#[doc(hidden)]
pub trait Sendable: Send {}

#[diagnostic::do_not_recommend]
impl<T: Send> Sendable for T {}

/// In the call itself.
#[derive(Debug)]
#[doc(hidden)]
pub enum Carried {}

/// Of a method that takes `&self` and whose future is `Send`: where its hooks are registered.
#[derive(Debug)]
#[doc(hidden)]
pub enum Found {}

/// Of a sync method that takes `&self`: where its hooks are registered.
#[derive(Debug)]
#[doc(hidden)]
pub enum FoundNow {}

impl<A: ?Sized + HookPoint<Args>, Args> Rest<A, Args> for Carried {}

#[expect(private_interfaces, reason = "called here only")]
impl<A, Args> Rest<A, Args> for Found
where
    A: ?Sized + AsyncBody<Args>,
    A::Base: Sync,
    A::Return: Sendable,
    Output<A, Args>: Sendable,
    Error<A, Args>: Sendable,
    Args: Sendable + 'static,
{
    fn drive<'a>(agent: &'a A, visit: Visit<'a>, args: Args) -> BoxFuture<'a, A::Return> {
        let receiver = SharedReceiver(agent);
        Box::pin(drive::<_, A, Args, AsyncAround, _, _>(receiver, visit, args, A::body))
    }

    fn around<'a>(call: &'a AroundCall<'a, A, Args>, args: Args) -> BoxFuture<'a, A::Return> {
        RestOfCall::start(call, call, Position::default(), args)
    }
}

#[expect(private_interfaces, reason = "called here only")]
impl<A, Args> Rest<A, Args> for FoundNow
where
    A: ?Sized + AroundPoint<Args, Mode = SyncMethod>,
    Args: 'static,
{
    fn drive_now(agent: &A, visit: &Visit<'_>, args: Args) -> A::Return {
        drive_now::<_, A, Args, SyncAround>(&SharedReceiver(agent), visit, args, A::start)
    }

    fn around_now(call: &AroundCall<'_, A, Args>, args: Args) -> A::Return {
        RestOfCall::start(call, call, Position::default(), args)
    }
}
