//! What a hook may look like: the forms that can be registered.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::answer::{PostAnswer, PostResult, PreAnswer, PreResult};
use crate::hook::{
    AsyncPostHook, AsyncPreHook, BoxFuture, HookSlot, PostHook, PostRun, PreHook, PreRun,
};
use crate::point::{Async, HookPoint, Output, Post, Pre};

/// A hook that may be registered at the hook type `P`.
///
/// `Form` is inferred; it tells the forms apart:
///
/// | at | sync | async, on async methods |
/// |---|---|---|
/// | pre | `Fn(&Agent, &mut Args) -> R` | `async fn(&Agent, &mut Args) -> R` |
/// | pre | `Fn(&Agent, &Args) -> R` | `async fn(&Agent, &Args) -> R` |
/// | post | `Fn(&Agent, &Args, &mut Output) -> R` | `async fn(&Agent, &Args, &mut Output) -> R` |
/// | post | `Fn(&Agent, &Args, &Output) -> R` | `async fn(&Agent, &Args, &Output) -> R` |
///
/// `R` of a pre hook is a [`PreAnswer`], `R` of a post hook a [`PostAnswer`]. An async closure
/// that captures is written with [`hook!`](crate::hook).
#[diagnostic::on_unimplemented(
    message = "this is not a hook for `{P}`",
    label = "its signature does not fit",
    note = "a pre hook is `|agent: &Agent, args: &mut Args|` or `|agent: &Agent, args: &Args|` and \
            returns `()`, `Option<Args>` or `Flow<Output>`",
    note = "a post hook is `|agent: &Agent, args: &Args, output: &mut Output|` or `|agent: &Agent, \
            args: &Args, output: &Output|` and returns `()` or `Option<Output>`; `Args` must be \
            `Clone`",
    note = "where the method returns a `Result`, a hook may return `HookResult<..>` of these; \
            where it does not, a hook cannot fail",
    note = "where the method is async, a hook may be an `async fn` whose future is `Send`; an async \
            closure that captures is written `hook!(Agent::PRE_REPLY, async move |agent, args| ..)`",
    note = "the parameters of a closure need their types: `|_: &Agent, args: &mut Args|`"
)]
pub trait IntoHook<P: HookSlot, Form> {
    /// The hook in its erased form.
    #[doc(hidden)]
    fn into_hook(self) -> P::Hook;
}

/// The form of a hook that is erased already: what [`hook!`](crate::hook) gives.
#[derive(Debug)]
pub enum Erased {}

/// The form of a sync hook that changes in place and answers `R`.
#[derive(Debug)]
pub struct SyncInPlace<R>(PhantomData<R>);

/// The form of a sync hook that looks and answers `R`.
#[derive(Debug)]
pub struct SyncLook<R>(PhantomData<R>);

/// The form of an async hook that changes in place.
#[derive(Debug)]
pub enum AsyncInPlace {}

/// The form of an async hook that looks.
#[derive(Debug)]
pub enum AsyncLook {}

#[diagnostic::do_not_recommend]
impl<A: ?Sized + HookPoint<Args>, Args: 'static> IntoHook<Pre<A, Args>, Erased>
    for PreHook<A, Args>
{
    fn into_hook(self) -> PreHook<A, Args> {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<A: ?Sized + HookPoint<Args>, Args: 'static> IntoHook<Post<A, Args>, Erased>
    for PostHook<A, Args>
{
    fn into_hook(self) -> PostHook<A, Args> {
        self
    }
}

impl<A, Args, F, R> IntoHook<Pre<A, Args>, SyncInPlace<R>> for F
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    F: Fn(&A, &mut Args) -> R + Send + Sync + 'static,
    R: PreAnswer<A, Args>,
{
    fn into_hook(self) -> PreHook<A, Args> {
        let hook = move |agent: &A, args: &mut Args| self(agent, args).into_step();
        PreHook { run: PreRun::Sync(Arc::new(hook)) }
    }
}

impl<A, Args, F, R> IntoHook<Pre<A, Args>, SyncLook<R>> for F
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    F: Fn(&A, &Args) -> R + Send + Sync + 'static,
    R: PreAnswer<A, Args>,
{
    fn into_hook(self) -> PreHook<A, Args> {
        let hook = move |agent: &A, args: &mut Args| self(agent, args).into_step();
        PreHook { run: PreRun::Sync(Arc::new(hook)) }
    }
}

impl<A, Args, F> IntoHook<Pre<A, Args>, AsyncInPlace> for F
where
    A: ?Sized + HookPoint<Args, Mode = Async>,
    Args: 'static,
    F: for<'a> AsyncPreFn<'a, A, &'a mut Args, Args> + Send + Sync + 'static,
{
    fn into_hook(self) -> PreHook<A, Args> {
        PreHook { run: PreRun::Async(Arc::new(InPlace(self)), ()) }
    }
}

impl<A, Args, F> IntoHook<Pre<A, Args>, AsyncLook> for F
where
    A: ?Sized + HookPoint<Args, Mode = Async>,
    Args: 'static,
    F: for<'a> AsyncPreFn<'a, A, &'a Args, Args> + Send + Sync + 'static,
{
    fn into_hook(self) -> PreHook<A, Args> {
        PreHook { run: PreRun::Async(Arc::new(Look(self)), ()) }
    }
}

impl<A, Args, F, R> IntoHook<Post<A, Args>, SyncInPlace<R>> for F
where
    A: ?Sized + HookPoint<Args>,
    Args: Clone + 'static,
    F: Fn(&A, &Args, &mut Output<A, Args>) -> R + Send + Sync + 'static,
    R: PostAnswer<A, Args>,
{
    fn into_hook(self) -> PostHook<A, Args> {
        let hook = move |agent: &A, args: &Args, output: &mut Output<A, Args>| {
            self(agent, args, output).into_output()
        };
        PostHook { run: PostRun::Sync(Arc::new(hook)), keep: Args::clone }
    }
}

impl<A, Args, F, R> IntoHook<Post<A, Args>, SyncLook<R>> for F
where
    A: ?Sized + HookPoint<Args>,
    Args: Clone + 'static,
    F: Fn(&A, &Args, &Output<A, Args>) -> R + Send + Sync + 'static,
    R: PostAnswer<A, Args>,
{
    fn into_hook(self) -> PostHook<A, Args> {
        let hook = move |agent: &A, args: &Args, output: &mut Output<A, Args>| {
            self(agent, args, output).into_output()
        };
        PostHook { run: PostRun::Sync(Arc::new(hook)), keep: Args::clone }
    }
}

impl<A, Args, F> IntoHook<Post<A, Args>, AsyncInPlace> for F
where
    A: ?Sized + HookPoint<Args, Mode = Async>,
    Args: Clone + 'static,
    F: for<'a> AsyncPostFn<'a, A, Args, &'a mut Output<A, Args>> + Send + Sync + 'static,
{
    fn into_hook(self) -> PostHook<A, Args> {
        PostHook { run: PostRun::Async(Arc::new(InPlace(self)), ()), keep: Args::clone }
    }
}

impl<A, Args, F> IntoHook<Post<A, Args>, AsyncLook> for F
where
    A: ?Sized + HookPoint<Args, Mode = Async>,
    Args: Clone + 'static,
    F: for<'a> AsyncPostFn<'a, A, Args, &'a Output<A, Args>> + Send + Sync + 'static,
{
    fn into_hook(self) -> PostHook<A, Args> {
        PostHook { run: PostRun::Async(Arc::new(Look(self)), ()), keep: Args::clone }
    }
}

/// Calls an async function with mutable access.
struct InPlace<F>(F);

/// Calls an async function with shared access.
struct Look<F>(F);

impl<A, Args, F> AsyncPreHook<A, Args> for InPlace<F>
where
    A: ?Sized + HookPoint<Args>,
    F: for<'a> AsyncPreFn<'a, A, &'a mut Args, Args> + Send + Sync,
{
    fn start<'a>(&'a self, agent: &'a A, args: &'a mut Args) -> BoxFuture<'a, PreResult<A, Args>> {
        self.0.call(agent, args)
    }
}

impl<A, Args, F> AsyncPreHook<A, Args> for Look<F>
where
    A: ?Sized + HookPoint<Args>,
    F: for<'a> AsyncPreFn<'a, A, &'a Args, Args> + Send + Sync,
{
    fn start<'a>(&'a self, agent: &'a A, args: &'a mut Args) -> BoxFuture<'a, PreResult<A, Args>> {
        self.0.call(agent, args)
    }
}

impl<A, Args, F> AsyncPostHook<A, Args> for InPlace<F>
where
    A: ?Sized + HookPoint<Args>,
    F: for<'a> AsyncPostFn<'a, A, Args, &'a mut Output<A, Args>> + Send + Sync,
{
    fn start<'a>(
        &'a self,
        agent: &'a A,
        args: &'a Args,
        output: &'a mut Output<A, Args>,
    ) -> BoxFuture<'a, PostResult<A, Args>> {
        self.0.call(agent, args, output)
    }
}

impl<A, Args, F> AsyncPostHook<A, Args> for Look<F>
where
    A: ?Sized + HookPoint<Args>,
    F: for<'a> AsyncPostFn<'a, A, Args, &'a Output<A, Args>> + Send + Sync,
{
    fn start<'a>(
        &'a self,
        agent: &'a A,
        args: &'a Args,
        output: &'a mut Output<A, Args>,
    ) -> BoxFuture<'a, PostResult<A, Args>> {
        self.0.call(agent, args, output)
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

/// An `async fn` of an agent, its arguments and a view of the output, whose future is `Send`.
#[doc(hidden)]
pub trait AsyncPostFn<'a, A: ?Sized + HookPoint<Args>, Args, View> {
    fn call(&self, agent: &'a A, args: &'a Args, view: View) -> BoxFuture<'a, PostResult<A, Args>>;
}

impl<'a, A, Args, View, F, Fut> AsyncPostFn<'a, A, Args, View> for F
where
    A: ?Sized + HookPoint<Args>,
    F: Fn(&'a A, &'a Args, View) -> Fut,
    Args: 'a,
    Fut: Future<Output: PostAnswer<A, Args>> + Send + 'a,
{
    fn call(&self, agent: &'a A, args: &'a Args, view: View) -> BoxFuture<'a, PostResult<A, Args>> {
        let answer = self(agent, args, view);
        Box::pin(async move { answer.await.into_output() })
    }
}
