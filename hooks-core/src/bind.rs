//! Async closures that capture, boxed where their type is known: what `hook!` expands to.

use std::sync::Arc;

use crate::answer::{PostAnswer, PostResult, PreAnswer, PreResult};
use crate::hook::{AsyncPostHook, AsyncPreHook, BoxFuture, PostHook, PostRun, PreHook, PreRun};
use crate::point::{Async, HookPoint, Output, Post, Pre};

#[doc(hidden)]
impl<A: ?Sized + HookPoint<Args>, Args: 'static> Pre<A, Args> {
    /// Binds an async closure to this type. `call` calls it and boxes the future: only there the
    /// future has a type that is known to be `Send`.
    pub fn bind<F, R, Call>(self, hook: F, call: Call) -> PreHook<A, Args>
    where
        A: HookPoint<Args, Mode = Async>,
        F: AsyncFn(&A, &mut Args) -> R + Send + Sync + 'static,
        R: PreAnswer<A, Args>,
        Call: for<'a> Fn(Self, &'a F, &'a A, &'a mut Args) -> BoxFuture<'a, PreResult<A, Args>>
            + Send
            + Sync
            + 'static,
    {
        let run = PreRun::Async(Arc::new(Bound { hook_type: self, hook, call }), ());
        PreHook { run }
    }

    /// Boxes what a hook of this type will answer.
    pub fn boxed<'a, R: PreAnswer<A, Args>>(
        self,
        answer: impl Future<Output = R> + Send + 'a,
    ) -> BoxFuture<'a, PreResult<A, Args>> {
        Box::pin(async move { answer.await.into_step() })
    }
}

#[doc(hidden)]
impl<A: ?Sized + HookPoint<Args>, Args: 'static> Post<A, Args> {
    /// Binds an async closure to this type, as for a pre hook.
    pub fn bind<F, R, Call>(self, hook: F, call: Call) -> PostHook<A, Args>
    where
        A: HookPoint<Args, Mode = Async>,
        Args: Clone,
        F: AsyncFn(&A, &Args, &mut Output<A, Args>) -> R + Send + Sync + 'static,
        R: PostAnswer<A, Args>,
        Call: for<'a> Fn(
                Self,
                &'a F,
                &'a A,
                &'a Args,
                &'a mut Output<A, Args>,
            ) -> BoxFuture<'a, PostResult<A, Args>>
            + Send
            + Sync
            + 'static,
    {
        let run = PostRun::Async(Arc::new(Bound { hook_type: self, hook, call }), ());
        PostHook { run, keep: Args::clone }
    }

    /// Boxes what a hook of this type will answer.
    pub fn boxed<'a, R: PostAnswer<A, Args>>(
        self,
        answer: impl Future<Output = R> + Send + 'a,
    ) -> BoxFuture<'a, PostResult<A, Args>> {
        Box::pin(async move { answer.await.into_output() })
    }
}

/// An async closure and how to call it.
struct Bound<P, F, Call> {
    hook_type: P,
    hook: F,
    call: Call,
}

impl<A, Args, F, Call> AsyncPreHook<A, Args> for Bound<Pre<A, Args>, F, Call>
where
    A: ?Sized + HookPoint<Args>,
    F: Send + Sync,
    Call: for<'a> Fn(Pre<A, Args>, &'a F, &'a A, &'a mut Args) -> BoxFuture<'a, PreResult<A, Args>>
        + Send
        + Sync,
{
    fn start<'a>(&'a self, agent: &'a A, args: &'a mut Args) -> BoxFuture<'a, PreResult<A, Args>> {
        (self.call)(self.hook_type, &self.hook, agent, args)
    }
}

impl<A, Args, F, Call> AsyncPostHook<A, Args> for Bound<Post<A, Args>, F, Call>
where
    A: ?Sized + HookPoint<Args>,
    F: Send + Sync,
    Call: for<'a> Fn(
            Post<A, Args>,
            &'a F,
            &'a A,
            &'a Args,
            &'a mut Output<A, Args>,
        ) -> BoxFuture<'a, PostResult<A, Args>>
        + Send
        + Sync,
{
    fn start<'a>(
        &'a self,
        agent: &'a A,
        args: &'a Args,
        output: &'a mut Output<A, Args>,
    ) -> BoxFuture<'a, PostResult<A, Args>> {
        (self.call)(self.hook_type, &self.hook, agent, args, output)
    }
}
