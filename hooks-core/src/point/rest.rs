//! Where the rest of a call is: all that needs more than its body and simple hooks.

use crate::point::call_mode::SyncMethod;
use crate::point::hook_point::{AroundPoint, AsyncBody, Error, HookPoint, Output};

/// Where the rest of a call is that needs more than its body and simple hooks.
#[doc(hidden)]
pub trait Rest<A: ?Sized + HookPoint<Args>, Args> {
    /// Chooses what is made for it.
    fn choose<C: Choices<A, Args>>() -> C
    where
        Args: 'static;
}

/// What is made for the rest of a call, by where it is.
#[doc(hidden)]
pub trait Choices<A: ?Sized + HookPoint<Args>, Args: 'static> {
    /// In the call itself.
    fn carried() -> Self;
    /// Where hooks are registered.
    fn found() -> Self
    where
        A: AsyncBody<Args, Base: Sync, Return: Send>,
        Output<A, Args>: Send,
        Error<A, Args>: Send,
        Args: Send;
    /// The same of a sync method.
    fn found_now() -> Self
    where
        A: AroundPoint<Args, Mode = SyncMethod>;
}

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

impl<A: ?Sized + HookPoint<Args>, Args> Rest<A, Args> for Carried {
    fn choose<C: Choices<A, Args>>() -> C
    where
        Args: 'static,
    {
        C::carried()
    }
}

impl<A, Args> Rest<A, Args> for Found
where
    A: ?Sized + AsyncBody<Args>,
    A::Base: Sync,
    A::Return: Sendable,
    Output<A, Args>: Sendable,
    Error<A, Args>: Sendable,
    Args: Sendable + 'static,
{
    fn choose<C: Choices<A, Args>>() -> C {
        C::found()
    }
}

impl<A, Args> Rest<A, Args> for FoundNow
where
    A: ?Sized + AroundPoint<Args, Mode = SyncMethod>,
    Args: 'static,
{
    fn choose<C: Choices<A, Args>>() -> C {
        C::found_now()
    }
}
