//! The forms of pre hooks: how each is erased.

use std::sync::Arc;

use crate::form::{
    AsyncInPlace, AsyncLook, Bound, Erased, InPlace, IntoHook, Look, Object, SyncInPlace, SyncLook,
};
use crate::future::BoxFuture;
use crate::mode::{Mode, Waiting};
use crate::point::{HookPoint, Output};
use crate::pre::{AsyncPre, ErasedPre, PreAnswer, PreForm, PreHook, PreResult, PreRun};
use crate::slot::Pre;

impl<A, Args, H, Form> IntoHook<Pre<A, Args>, Form> for H
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    Pre<A, Args>: PreForm<H, A, Args, Output<A, Args>, A::Mode, A::Kind, Form>,
{
    fn into_hook(self) -> ErasedPre<A, Args> {
        <Pre<A, Args>>::erase(self)
    }
}

#[diagnostic::do_not_recommend]
impl<A: ?Sized + HookPoint<Args>, Args: 'static>
    PreForm<ErasedPre<A, Args>, A, Args, Output<A, Args>, A::Mode, A::Kind, Erased>
    for Pre<A, Args>
{
    fn erase(given: ErasedPre<A, Args>) -> ErasedPre<A, Args> {
        given
    }
}

#[diagnostic::do_not_recommend]
impl<A, Args, F, R> PreForm<F, A, Args, Output<A, Args>, A::Mode, A::Kind, SyncInPlace<R>>
    for Pre<A, Args>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    F: Fn(&A, &mut Args) -> R + Send + Sync + 'static,
    R: PreAnswer<A, Args>,
{
    fn erase(given: F) -> ErasedPre<A, Args> {
        let hook = move |agent: &A, args: &mut Args| given(agent, args).into_step();
        ErasedPre { run: PreRun::Sync(Arc::new(hook)) }
    }
}

#[diagnostic::do_not_recommend]
impl<A, Args, F, R> PreForm<F, A, Args, Output<A, Args>, A::Mode, A::Kind, SyncLook<R>>
    for Pre<A, Args>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    F: Fn(&A, &Args) -> R + Send + Sync + 'static,
    R: PreAnswer<A, Args>,
{
    fn erase(given: F) -> ErasedPre<A, Args> {
        let hook = move |agent: &A, args: &mut Args| given(agent, args).into_step();
        ErasedPre { run: PreRun::Sync(Arc::new(hook)) }
    }
}

#[diagnostic::do_not_recommend]
impl<A, Args, F> PreForm<F, A, Args, Output<A, Args>, A::Mode, A::Kind, AsyncInPlace>
    for Pre<A, Args>
where
    A: ?Sized + HookPoint<Args>,
    A::Mode: Mode<AsyncHooks = ()>,
    Args: 'static,
    F: for<'a> AsyncPreFn<'a, A, &'a mut Args, Args> + Send + Sync + 'static,
{
    fn erase(given: F) -> ErasedPre<A, Args> {
        ErasedPre { run: PreRun::Async(Arc::new(InPlace(given)), ()) }
    }
}

#[diagnostic::do_not_recommend]
impl<A, Args, F> PreForm<F, A, Args, Output<A, Args>, A::Mode, A::Kind, AsyncLook> for Pre<A, Args>
where
    A: ?Sized + HookPoint<Args>,
    A::Mode: Mode<AsyncHooks = ()>,
    Args: 'static,
    F: for<'a> AsyncPreFn<'a, A, &'a Args, Args> + Send + Sync + 'static,
{
    fn erase(given: F) -> ErasedPre<A, Args> {
        ErasedPre { run: PreRun::Async(Arc::new(Look(given)), ()) }
    }
}

#[diagnostic::do_not_recommend]
impl<A, Args, T> PreForm<T, A, Args, Output<A, Args>, A::Mode, A::Kind, Object> for Pre<A, Args>
where
    A: ?Sized + HookPoint<Args>,
    A::Mode: Mode<AsyncHooks = ()>,
    Args: 'static,
    T: PreHook<A, Args>,
{
    fn erase(given: T) -> ErasedPre<A, Args> {
        ErasedPre { run: PreRun::Async(Arc::new(Own(given)), ()) }
    }
}

/// A hook that is a type.
struct Own<T>(T);

impl<A, Args, T> AsyncPre<A, Args> for Own<T>
where
    A: ?Sized + HookPoint<Args>,
    T: PreHook<A, Args>,
{
    fn start<'a>(&'a self, agent: &'a A, args: &'a mut Args) -> BoxFuture<'a, PreResult<A, Args>> {
        let answer = self.0.run(agent, args);
        Box::pin(async move { answer.await.into_step() })
    }
}

impl<A, Args, F> AsyncPre<A, Args> for InPlace<F>
where
    A: ?Sized + HookPoint<Args>,
    F: for<'a> AsyncPreFn<'a, A, &'a mut Args, Args> + Send + Sync,
{
    fn start<'a>(&'a self, agent: &'a A, args: &'a mut Args) -> BoxFuture<'a, PreResult<A, Args>> {
        self.0.call(agent, args)
    }
}

impl<A, Args, F> AsyncPre<A, Args> for Look<F>
where
    A: ?Sized + HookPoint<Args>,
    F: for<'a> AsyncPreFn<'a, A, &'a Args, Args> + Send + Sync,
{
    fn start<'a>(&'a self, agent: &'a A, args: &'a mut Args) -> BoxFuture<'a, PreResult<A, Args>> {
        self.0.call(agent, args)
    }
}

/// An `async fn` of an agent and a view of its arguments, whose future is `Send`.
#[doc(hidden)]
pub trait AsyncPreFn<'a, A: ?Sized + HookPoint<Args>, View, Args> {
    fn call(&self, agent: &'a A, view: View) -> BoxFuture<'a, PreResult<A, Args>>;
}

impl<'a, A, View, Args, F, Fut> AsyncPreFn<'a, A, View, Args> for F
where
    A: ?Sized + HookPoint<Args>,
    F: Fn(&'a A, View) -> Fut,
    Fut: Future<Output: PreAnswer<A, Args>> + Send + 'a,
{
    fn call(&self, agent: &'a A, view: View) -> BoxFuture<'a, PreResult<A, Args>> {
        let answer = self(agent, view);
        Box::pin(async move { answer.await.into_step() })
    }
}

#[doc(hidden)]
impl<A: ?Sized + HookPoint<Args>, Args: 'static> Pre<A, Args> {
    /// Binds an async closure to this type. `call` calls it and boxes the future: only there the
    /// future has a type that is known to be `Send`.
    pub fn bind<F, R, Call>(self, hook: F, call: Call) -> ErasedPre<A, Args>
    where
        A::Mode: Waiting,
        F: AsyncFn(&A, &mut Args) -> R + Send + Sync + 'static,
        R: PreAnswer<A, Args>,
        Call: for<'a> Fn(Self, &'a F, &'a A, &'a mut Args) -> BoxFuture<'a, PreResult<A, Args>>
            + Send
            + Sync
            + 'static,
    {
        ErasedPre { run: PreRun::Async(Arc::new(Bound { slot: self, hook, call }), ()) }
    }

    /// Boxes what a hook of this type will answer.
    pub fn boxed<'a, R: PreAnswer<A, Args>>(
        self,
        answer: impl Future<Output = R> + Send + 'a,
    ) -> BoxFuture<'a, PreResult<A, Args>> {
        Box::pin(async move { answer.await.into_step() })
    }
}

impl<A, Args, F, Call> AsyncPre<A, Args> for Bound<Pre<A, Args>, F, Call>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    F: Send + Sync,
    Call: for<'a> Fn(Pre<A, Args>, &'a F, &'a A, &'a mut Args) -> BoxFuture<'a, PreResult<A, Args>>
        + Send
        + Sync,
{
    fn start<'a>(&'a self, agent: &'a A, args: &'a mut Args) -> BoxFuture<'a, PreResult<A, Args>> {
        (self.call)(self.slot, &self.hook, agent, args)
    }
}
