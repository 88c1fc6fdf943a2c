//! The forms of around hooks: how each is erased.

use std::sync::Arc;

use crate::around::{AroundForm, AroundHook, ErasedAround, Next, StartAround};
use crate::form::{AsyncInPlace, Bound, Erased, InPlace, IntoHook, Object, SyncInPlace};
use crate::future::BoxFuture;
use crate::mode::{Async, Sync};
use crate::point::HookPoint;
use crate::slot::Around;

impl<A, Args, H, Form> IntoHook<Around<A, Args>, Form> for H
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    Around<A, Args>: AroundForm<H, A, Args, A::Return, A::Mode, Form>,
{
    fn into_hook(self) -> ErasedAround<A, Args> {
        <Around<A, Args>>::erase(self)
    }
}

#[diagnostic::do_not_recommend]
impl<A: ?Sized + HookPoint<Args>, Args: 'static>
    AroundForm<ErasedAround<A, Args>, A, Args, A::Return, A::Mode, Erased> for Around<A, Args>
{
    fn erase(given: ErasedAround<A, Args>) -> ErasedAround<A, Args> {
        given
    }
}

#[diagnostic::do_not_recommend]
impl<A, Args, F> AroundForm<F, A, Args, A::Return, A::Mode, SyncInPlace<()>> for Around<A, Args>
where
    A: ?Sized + HookPoint<Args, Mode = Sync>,
    Args: 'static,
    F: Fn(&A, Args, Next<'_, A, Args>) -> A::Return + Send + std::marker::Sync + 'static,
{
    fn erase(given: F) -> ErasedAround<A, Args> {
        ErasedAround { run: Arc::new(Plain(given)) }
    }
}

#[diagnostic::do_not_recommend]
impl<A, Args, F> AroundForm<F, A, Args, A::Return, A::Mode, AsyncInPlace> for Around<A, Args>
where
    A: ?Sized + HookPoint<Args, Mode = Async>,
    Args: 'static,
    F: for<'a> AsyncAroundFn<'a, A, Args> + Send + std::marker::Sync + 'static,
{
    fn erase(given: F) -> ErasedAround<A, Args> {
        ErasedAround { run: Arc::new(InPlace(given)) }
    }
}

#[diagnostic::do_not_recommend]
impl<A, Args, T> AroundForm<T, A, Args, A::Return, A::Mode, Object> for Around<A, Args>
where
    A: ?Sized + HookPoint<Args, Mode = Async>,
    Args: 'static,
    T: AroundHook<A, Args>,
{
    fn erase(given: T) -> ErasedAround<A, Args> {
        ErasedAround { run: Arc::new(Own(given)) }
    }
}

/// A hook that is a type.
struct Own<T>(T);

/// A hook of a sync method.
struct Plain<F>(F);

impl<A, Args, T> StartAround<A, Args> for Own<T>
where
    A: ?Sized + HookPoint<Args, Mode = Async>,
    Args: 'static,
    T: AroundHook<A, Args>,
{
    fn start<'a>(
        &'a self,
        agent: &'a A,
        args: Args,
        next: Next<'a, A, Args>,
    ) -> BoxFuture<'a, A::Return> {
        Box::pin(self.0.run(agent, args, next))
    }
}

impl<A, Args, F> StartAround<A, Args> for Plain<F>
where
    A: ?Sized + HookPoint<Args, Mode = Sync>,
    Args: 'static,
    F: Fn(&A, Args, Next<'_, A, Args>) -> A::Return + Send + std::marker::Sync,
{
    fn start<'a>(&'a self, agent: &'a A, args: Args, next: Next<'a, A, Args>) -> A::Return {
        self.0(agent, args, next)
    }
}

impl<A, Args, F> StartAround<A, Args> for InPlace<F>
where
    A: ?Sized + HookPoint<Args, Mode = Async>,
    Args: 'static,
    F: for<'a> AsyncAroundFn<'a, A, Args> + Send + std::marker::Sync,
{
    fn start<'a>(
        &'a self,
        agent: &'a A,
        args: Args,
        next: Next<'a, A, Args>,
    ) -> BoxFuture<'a, A::Return> {
        self.0.call(agent, args, next)
    }
}

/// An `async fn` of an agent, its arguments and the rest of the call, whose future is `Send`.
#[doc(hidden)]
pub trait AsyncAroundFn<'a, A: ?Sized + HookPoint<Args>, Args: 'static> {
    fn call(&self, agent: &'a A, args: Args, next: Next<'a, A, Args>) -> BoxFuture<'a, A::Return>;
}

impl<'a, A, Args, F, Fut> AsyncAroundFn<'a, A, Args> for F
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    F: Fn(&'a A, Args, Next<'a, A, Args>) -> Fut,
    Fut: Future<Output = A::Return> + Send + 'a,
{
    fn call(&self, agent: &'a A, args: Args, next: Next<'a, A, Args>) -> BoxFuture<'a, A::Return> {
        Box::pin(self(agent, args, next))
    }
}

#[doc(hidden)]
impl<A: ?Sized + HookPoint<Args, Mode = Async>, Args: 'static> Around<A, Args> {
    /// Binds an async closure to this type, as for a pre hook.
    pub fn bind<F, Call>(self, hook: F, call: Call) -> ErasedAround<A, Args>
    where
        F: AsyncFn(&A, Args, Next<'_, A, Args>) -> A::Return + Send + std::marker::Sync + 'static,
        Call: for<'a> Fn(Self, &'a F, &'a A, Args, Next<'a, A, Args>) -> BoxFuture<'a, A::Return>
            + Send
            + std::marker::Sync
            + 'static,
    {
        ErasedAround { run: Arc::new(Bound { slot: self, hook, call }) }
    }

    /// Boxes what a hook of this type will return.
    pub fn boxed<'a>(
        self,
        returned: impl Future<Output = A::Return> + Send + 'a,
    ) -> BoxFuture<'a, A::Return> {
        Box::pin(returned)
    }
}

impl<A, Args, F, Call> StartAround<A, Args> for Bound<Around<A, Args>, F, Call>
where
    A: ?Sized + HookPoint<Args, Mode = Async>,
    Args: 'static,
    F: Send + std::marker::Sync,
    Call: for<'a> Fn(
            Around<A, Args>,
            &'a F,
            &'a A,
            Args,
            Next<'a, A, Args>,
        ) -> BoxFuture<'a, A::Return>
        + Send
        + std::marker::Sync,
{
    fn start<'a>(
        &'a self,
        agent: &'a A,
        args: Args,
        next: Next<'a, A, Args>,
    ) -> BoxFuture<'a, A::Return> {
        (self.call)(self.slot, &self.hook, agent, args, next)
    }
}
