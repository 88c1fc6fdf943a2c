//! The forms of post and error hooks: how each is erased.

use std::sync::Arc;

use crate::after::{
    After, AfterAnswer, AfterForm, AfterHook, AfterResult, AfterRun, AsyncAfter, ErasedAfter,
};
use crate::form::{
    AsyncInPlace, AsyncLook, Bound, Erased, InPlace, IntoHook, Look, Object, SyncInPlace, SyncLook,
};
use crate::future::BoxFuture;
use crate::mode::Waiting;
use crate::point::{Error, HookPoint, Output};
use crate::slot::{HookSlot, OnError, Post};

impl<A, Args, H, Form> IntoHook<Post<A, Args>, Form> for H
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    Post<A, Args>: AfterForm<H, A, Args, Output<A, Args>, A::Mode, A::Kind, Form>,
{
    fn into_hook(self) -> ErasedAfter<Post<A, Args>> {
        <Post<A, Args>>::erase(self)
    }
}

impl<A, Args, H, Form> IntoHook<OnError<A, Args>, Form> for H
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    OnError<A, Args>: AfterForm<H, A, Args, Error<A, Args>, A::Mode, A::Kind, Form>,
{
    fn into_hook(self) -> ErasedAfter<OnError<A, Args>> {
        <OnError<A, Args>>::erase(self)
    }
}

#[diagnostic::do_not_recommend]
impl<P, M, K> AfterForm<ErasedAfter<P>, P::Agent, P::Args, P::Subject, M, K, Erased> for P
where
    P: After,
{
    fn erase(given: ErasedAfter<P>) -> ErasedAfter<P> {
        given
    }
}

#[diagnostic::do_not_recommend]
impl<P, M, K, F, R> AfterForm<F, P::Agent, P::Args, P::Subject, M, K, SyncInPlace<R>> for P
where
    P: After<Args: Clone>,
    F: Fn(&P::Agent, &P::Args, &mut P::Subject) -> R + Send + Sync + 'static,
    R: AfterAnswer<P>,
{
    fn erase(given: F) -> ErasedAfter<P> {
        let hook = move |agent: &P::Agent, args: &P::Args, subject: &mut P::Subject| {
            given(agent, args, subject).into_step()
        };
        ErasedAfter { run: AfterRun::Sync(Arc::new(hook)), keep: P::Args::clone }
    }
}

#[diagnostic::do_not_recommend]
impl<P, M, K, F, R> AfterForm<F, P::Agent, P::Args, P::Subject, M, K, SyncLook<R>> for P
where
    P: After<Args: Clone>,
    F: Fn(&P::Agent, &P::Args, &P::Subject) -> R + Send + Sync + 'static,
    R: AfterAnswer<P>,
{
    fn erase(given: F) -> ErasedAfter<P> {
        let hook = move |agent: &P::Agent, args: &P::Args, subject: &mut P::Subject| {
            given(agent, args, subject).into_step()
        };
        ErasedAfter { run: AfterRun::Sync(Arc::new(hook)), keep: P::Args::clone }
    }
}

#[diagnostic::do_not_recommend]
impl<P, M, K, F> AfterForm<F, P::Agent, P::Args, P::Subject, M, K, AsyncInPlace> for P
where
    P: After<Args: Clone, AsyncHooks = ()>,
    F: for<'a> AsyncAfterFn<'a, P, &'a mut P::Subject> + Send + Sync + 'static,
{
    fn erase(given: F) -> ErasedAfter<P> {
        ErasedAfter { run: AfterRun::Async(Arc::new(InPlace(given)), ()), keep: P::Args::clone }
    }
}

#[diagnostic::do_not_recommend]
impl<P, M, K, F> AfterForm<F, P::Agent, P::Args, P::Subject, M, K, AsyncLook> for P
where
    P: After<Args: Clone, AsyncHooks = ()>,
    F: for<'a> AsyncAfterFn<'a, P, &'a P::Subject> + Send + Sync + 'static,
{
    fn erase(given: F) -> ErasedAfter<P> {
        ErasedAfter { run: AfterRun::Async(Arc::new(Look(given)), ()), keep: P::Args::clone }
    }
}

#[diagnostic::do_not_recommend]
impl<P, M, K, T> AfterForm<T, P::Agent, P::Args, P::Subject, M, K, Object> for P
where
    P: After<Args: Clone, AsyncHooks = ()>,
    T: AfterHook<P>,
{
    fn erase(given: T) -> ErasedAfter<P> {
        ErasedAfter { run: AfterRun::Async(Arc::new(Own(given)), ()), keep: P::Args::clone }
    }
}

/// A hook that is a type.
struct Own<T>(T);

impl<P: After, T: AfterHook<P>> AsyncAfter<P> for Own<T> {
    fn start<'a>(
        &'a self,
        agent: &'a P::Agent,
        args: &'a P::Args,
        subject: &'a mut P::Subject,
    ) -> BoxFuture<'a, AfterResult<P>> {
        let answer = self.0.run(agent, args, subject);
        Box::pin(async move { answer.await.into_step() })
    }
}

impl<P, F> AsyncAfter<P> for InPlace<F>
where
    P: After,
    F: for<'a> AsyncAfterFn<'a, P, &'a mut P::Subject> + Send + Sync,
{
    fn start<'a>(
        &'a self,
        agent: &'a P::Agent,
        args: &'a P::Args,
        subject: &'a mut P::Subject,
    ) -> BoxFuture<'a, AfterResult<P>> {
        self.0.call(agent, args, subject)
    }
}

impl<P, F> AsyncAfter<P> for Look<F>
where
    P: After,
    F: for<'a> AsyncAfterFn<'a, P, &'a P::Subject> + Send + Sync,
{
    fn start<'a>(
        &'a self,
        agent: &'a P::Agent,
        args: &'a P::Args,
        subject: &'a mut P::Subject,
    ) -> BoxFuture<'a, AfterResult<P>> {
        self.0.call(agent, args, subject)
    }
}

/// An `async fn` of an agent, its arguments and a view of the subject, whose future is `Send`.
#[doc(hidden)]
pub trait AsyncAfterFn<'a, P: After, View> {
    fn call(
        &self,
        agent: &'a P::Agent,
        args: &'a P::Args,
        view: View,
    ) -> BoxFuture<'a, AfterResult<P>>;
}

impl<'a, P, View, F, Fut> AsyncAfterFn<'a, P, View> for F
where
    P: After,
    F: Fn(&'a P::Agent, &'a P::Args, View) -> Fut,
    Fut: Future<Output: AfterAnswer<P>> + Send + 'a,
{
    fn call(
        &self,
        agent: &'a P::Agent,
        args: &'a P::Args,
        view: View,
    ) -> BoxFuture<'a, AfterResult<P>> {
        let answer = self(agent, args, view);
        Box::pin(async move { answer.await.into_step() })
    }
}

macro_rules! bind_after {
    ($slot:ident) => {
        #[doc(hidden)]
        impl<A: ?Sized + HookPoint<Args>, Args: 'static> $slot<A, Args> {
            /// Binds an async closure to this type, as for a pre hook.
            pub fn bind<F, R, Call>(self, hook: F, call: Call) -> ErasedAfter<Self>
            where
                A::Mode: Waiting,
                Args: Clone,
                F: AsyncFn(&A, &Args, &mut <Self as HookSlot>::Subject) -> R
                    + Send
                    + Sync
                    + 'static,
                R: AfterAnswer<Self>,
                Call: for<'a> Fn(
                        Self,
                        &'a F,
                        &'a A,
                        &'a Args,
                        &'a mut <Self as HookSlot>::Subject,
                    ) -> BoxFuture<'a, AfterResult<Self>>
                    + Send
                    + Sync
                    + 'static,
            {
                let run = AfterRun::Async(Arc::new(Bound { slot: self, hook, call }), ());
                ErasedAfter { run, keep: Args::clone }
            }

            /// Boxes what a hook of this type will answer.
            pub fn boxed<'a, R: AfterAnswer<Self>>(
                self,
                answer: impl Future<Output = R> + Send + 'a,
            ) -> BoxFuture<'a, AfterResult<Self>> {
                Box::pin(async move { answer.await.into_step() })
            }
        }
    };
}

bind_after!(Post);
bind_after!(OnError);

impl<P, F, Call> AsyncAfter<P> for Bound<P, F, Call>
where
    P: After,
    F: Send + Sync,
    Call: for<'a> Fn(
            P,
            &'a F,
            &'a P::Agent,
            &'a P::Args,
            &'a mut P::Subject,
        ) -> BoxFuture<'a, AfterResult<P>>
        + Send
        + Sync,
{
    fn start<'a>(
        &'a self,
        agent: &'a P::Agent,
        args: &'a P::Args,
        subject: &'a mut P::Subject,
    ) -> BoxFuture<'a, AfterResult<P>> {
        (self.call)(self.slot, &self.hook, agent, args, subject)
    }
}
