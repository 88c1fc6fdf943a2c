//! The forms of around hooks: how each is erased.

use std::sync::Arc;

use crate::around::{AroundHook, ErasedAround, Next, StartAround};
use crate::form::{AsyncInPlace, Bound, Erased, InPlace, IntoHook, Object, SyncInPlace};
use crate::future::BoxFuture;
use crate::mode::{Async, Sync};
use crate::point::HookPoint;
use crate::slot::Around;

#[diagnostic::do_not_recommend]
impl<A: ?Sized + HookPoint<Args>, Args: 'static> IntoHook<Around<A, Args>, Erased>
    for ErasedAround<A, Args>
{
    fn into_hook(self) -> ErasedAround<A, Args> {
        self
    }
}

impl<A, Args, F> IntoHook<Around<A, Args>, SyncInPlace<()>> for F
where
    A: ?Sized + HookPoint<Args, Mode = Sync>,
    Args: 'static,
    F: Fn(&A, Args, Next<'_, A, Args>) -> A::Return + Send + std::marker::Sync + 'static,
{
    fn into_hook(self) -> ErasedAround<A, Args> {
        ErasedAround { run: Arc::new(Plain(self)) }
    }
}

impl<A, Args, F> IntoHook<Around<A, Args>, AsyncInPlace> for F
where
    A: ?Sized + HookPoint<Args, Mode = Async>,
    Args: 'static,
    F: for<'a> AsyncAroundFn<'a, A, Args> + Send + std::marker::Sync + 'static,
{
    fn into_hook(self) -> ErasedAround<A, Args> {
        ErasedAround { run: Arc::new(InPlace(self)) }
    }
}

impl<A, Args, T> IntoHook<Around<A, Args>, Object> for T
where
    A: ?Sized + HookPoint<Args, Mode = Async>,
    Args: 'static,
    T: AroundHook<A, Args>,
{
    fn into_hook(self) -> ErasedAround<A, Args> {
        ErasedAround { run: Arc::new(Own(self)) }
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
