//! Hooks in their erased form.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use crate::answer::{PostResult, PreResult};
use crate::point::{HookPoint, Mode, Output, Post, Pre};

/// A boxed future of an async hook.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A hook type as a type. Implemented here only.
pub trait HookSlot: Copy {
    /// The erased form of a hook of that type.
    #[doc(hidden)]
    type Hook: Clone;
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> HookSlot for Pre<A, Args> {
    type Hook = PreHook<A, Args>;
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> HookSlot for Post<A, Args> {
    type Hook = PostHook<A, Args>;
}

type SyncPre<A, Args> = dyn Fn(&A, &mut Args) -> PreResult<A, Args> + Send + Sync;
type SyncPost<A, Args> =
    dyn Fn(&A, &Args, &mut Output<A, Args>) -> PostResult<A, Args> + Send + Sync;
/// An async pre hook; a call boxes its future, which may borrow from the hook.
pub(crate) trait AsyncPreHook<A: ?Sized + HookPoint<Args>, Args>: Send + Sync {
    fn start<'a>(&'a self, agent: &'a A, args: &'a mut Args) -> BoxFuture<'a, PreResult<A, Args>>;
}

/// An async post hook; a call boxes its future, which may borrow from the hook.
pub(crate) trait AsyncPostHook<A: ?Sized + HookPoint<Args>, Args>: Send + Sync {
    fn start<'a>(
        &'a self,
        agent: &'a A,
        args: &'a Args,
        output: &'a mut Output<A, Args>,
    ) -> BoxFuture<'a, PostResult<A, Args>>;
}

type AsyncHooks<A, Args> = <<A as HookPoint<Args>>::Mode as Mode>::AsyncHooks;

/// A pre hook in its erased form.
#[doc(hidden)]
pub struct PreHook<A: ?Sized + HookPoint<Args>, Args> {
    pub(crate) run: PreRun<A, Args>,
}

pub(crate) enum PreRun<A: ?Sized + HookPoint<Args>, Args> {
    Sync(Arc<SyncPre<A, Args>>),
    Async(Arc<dyn AsyncPreHook<A, Args>>, AsyncHooks<A, Args>),
}

/// A post hook in its erased form.
#[doc(hidden)]
pub struct PostHook<A: ?Sized + HookPoint<Args>, Args> {
    pub(crate) run: PostRun<A, Args>,
    /// The body consumes the arguments; a call that has post hooks keeps a copy for them.
    pub(crate) keep: fn(&Args) -> Args,
}

pub(crate) enum PostRun<A: ?Sized + HookPoint<Args>, Args> {
    Sync(Arc<SyncPost<A, Args>>),
    Async(Arc<dyn AsyncPostHook<A, Args>>, AsyncHooks<A, Args>),
}

impl<A: ?Sized + HookPoint<Args>, Args> Clone for PreHook<A, Args> {
    fn clone(&self) -> Self {
        let run = match &self.run {
            PreRun::Sync(hook) => PreRun::Sync(hook.clone()),
            PreRun::Async(hook, proof) => PreRun::Async(hook.clone(), *proof),
        };
        Self { run }
    }
}

impl<A: ?Sized + HookPoint<Args>, Args> Clone for PostHook<A, Args> {
    fn clone(&self) -> Self {
        let run = match &self.run {
            PostRun::Sync(hook) => PostRun::Sync(hook.clone()),
            PostRun::Async(hook, proof) => PostRun::Async(hook.clone(), *proof),
        };
        Self { run, keep: self.keep }
    }
}

impl<A: ?Sized + HookPoint<Args>, Args> fmt::Debug for PreHook<A, Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreHook").finish_non_exhaustive()
    }
}

impl<A: ?Sized + HookPoint<Args>, Args> fmt::Debug for PostHook<A, Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostHook").finish_non_exhaustive()
    }
}
