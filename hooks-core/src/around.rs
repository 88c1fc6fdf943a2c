//! Around hooks: they run the rest of the call as often as they like.

use std::fmt;
use std::sync::Arc;

use crate::entry::Entry;
use crate::error::{BoxError, HookError};
use crate::form::{AsyncInPlace, Bound, Erased, InPlace, IntoHook, Object, SyncInPlace};
use crate::future::BoxFuture;
use crate::hook_type::{HookType, Level, Phase};
use crate::point::{Async, Fallible, HookPoint, Mode, ReturnKind, Sync};
use crate::slot::{Around, HookSlot, NoUndo};

/// The rest of a call, in the hands of an around hook: the hooks further in, then the body.
///
/// ```
/// use hooks_core::{HookError, Hookable, Hooks, hook, hookable};
///
/// #[derive(Hookable, Default)]
/// struct Flaky {
///     calls: std::sync::atomic::AtomicUsize,
///     hooks: Hooks,
/// }
///
/// #[hookable]
/// impl Flaky {
///     async fn reply(&self, text: String) -> Result<String, HookError> {
///         match self.calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
///             0 => Err("pre".parse::<hooks_core::HookType>().unwrap_err().into()),
///             _ => Ok(text),
///         }
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let flaky = Flaky::default();
/// let tries = 3;
/// flaky.register_instance_hook(
///     Flaky::AROUND_REPLY,
///     "retry",
///     hook!(Flaky::AROUND_REPLY, async move |_, args, next| {
///         for _ in 1..tries {
///             if let Ok(reply) = next.run(args.clone()).await {
///                 return Ok(reply);
///             }
///         }
///         next.run(args).await
///     }),
/// );
/// assert_eq!(flaky.reply("hi".to_owned()).await.unwrap(), "hi");
/// # });
/// ```
pub struct Next<'a, A: ?Sized + HookPoint<Args>, Args: 'static> {
    agent: &'a A,
    /// The hooks further in; the first one is the one that has this.
    links: &'a [Link<'a, A, Args>],
    body: Body<'a, A, Args>,
}

pub(crate) type Link<'a, A, Args> = (Level, &'a Entry<Around<A, Args>>);
pub(crate) type Body<'a, A, Args> = fn(&'a A, Args) -> Running<'a, A, Args>;

type Running<'a, A, Args> =
    <<A as HookPoint<Args>>::Mode as Mode>::Running<'a, <A as HookPoint<Args>>::Return>;

impl<'a, A: ?Sized + HookPoint<Args>, Args: 'static> Next<'a, A, Args> {
    /// Runs the rest of the call with these arguments and gives what it returns: a future of it on
    /// async methods.
    pub fn run(&self, args: Args) -> Running<'a, A, Args> {
        start(self.agent, args, &self.links[1..], self.body)
    }

    /// The error of a call that this hook fails, with its name.
    pub fn fail<E>(&self, cause: impl Into<BoxError>) -> E
    where
        A: HookPoint<Args, Kind = Fallible>,
        Fallible: ReturnKind<A::Return, Error = E, Fault = BoxError>,
    {
        let (level, entry) = self.links[0];
        Fallible::fail(cause.into(), |source| HookError::Failed {
            hook: entry.name.to_string(),
            hook_type: HookType::new(Phase::Around, A::METHOD),
            level,
            source,
        })
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> fmt::Debug for Next<'_, A, Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("hooks", &(self.links.len() - 1)).finish_non_exhaustive()
    }
}

/// Starts a call at the first of the hooks that applies, or at the body.
pub(crate) fn start<'a, A: ?Sized + HookPoint<Args>, Args: 'static>(
    agent: &'a A,
    args: Args,
    links: &'a [Link<'a, A, Args>],
    body: Body<'a, A, Args>,
) -> Running<'a, A, Args> {
    let applies = |(_, entry): &Link<'_, A, Args>| {
        entry.limits.as_ref().is_none_or(|limits| limits.applies(agent, &args))
    };
    match links.iter().position(applies) {
        Some(index) => {
            let links = &links[index..];
            links[0].1.hook.run.start(agent, args, Next { agent, links, body })
        }
        None => body(agent, args),
    }
}

/// An around hook that is a type: for hooks with state of their own.
pub trait AroundHook<A: ?Sized + HookPoint<Args>, Args: 'static>:
    Send + std::marker::Sync + 'static
{
    /// Runs in place of the rest of the call, which it has in its hands.
    fn run(
        &self,
        agent: &A,
        args: Args,
        next: Next<'_, A, Args>,
    ) -> impl Future<Output = A::Return> + Send;
}

/// An around hook in its erased form.
#[doc(hidden)]
pub struct ErasedAround<A: ?Sized + HookPoint<Args>, Args> {
    run: Arc<dyn StartAround<A, Args>>,
}

/// Starts an around hook: a future on async methods, the value itself on sync ones.
trait StartAround<A: ?Sized + HookPoint<Args>, Args: 'static>: Send + std::marker::Sync {
    fn start<'a>(
        &'a self,
        agent: &'a A,
        args: Args,
        next: Next<'a, A, Args>,
    ) -> Running<'a, A, Args>;
}

impl<A: ?Sized + HookPoint<Args>, Args> Clone for ErasedAround<A, Args> {
    fn clone(&self) -> Self {
        Self { run: self.run.clone() }
    }
}

impl<A: ?Sized + HookPoint<Args>, Args> fmt::Debug for ErasedAround<A, Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErasedAround").finish_non_exhaustive()
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> HookSlot for Around<A, Args> {
    type Agent = A;
    type Args = Args;
    type Subject = NoUndo;
    type AsyncHooks = <A::Mode as Mode>::AsyncHooks;
    type Hook = ErasedAround<A, Args>;
    const PHASE: Phase = Phase::Around;
}

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
