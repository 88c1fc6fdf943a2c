//! Around hooks: they run the rest of the call as often as they like.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::error::{BoxError, HookError};
use crate::form::{AsyncInPlace, Bound, Erased, InPlace, IntoHook, Object, SyncInPlace};
use crate::future::BoxFuture;
use crate::hook_type::{HookType, Level, Phase};
use crate::hookable::HasHooks;
use crate::mode::{AroundCall, Async, Mode, Sync};
use crate::place::Place;
use crate::point::{AroundPoint, Fallible, HookPoint, ReturnKind};
use crate::slot::{Around, HookSlot, NoUndo};
use crate::snapshot::{Link, Snapshot};

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
///
/// `Call` is what it is by default; it is written out in the type so that `Next` can be told to be `Send`
/// where `A` is `dyn Trait`.
pub struct Next<'a, A, Args, Call = DynCall<'a, A, Args>>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    Call: ?Sized,
{
    call: &'a Call,
    /// The place of the hook that has this.
    index: usize,
    marker: PhantomData<fn(&A, Args)>,
}

/// What a call gives that is under way.
#[doc(hidden)]
pub type Running<'a, A, Args> =
    <<A as HookPoint<Args>>::Mode as Mode>::Running<'a, <A as HookPoint<Args>>::Return>;
/// A call of a method of `A` that has around hooks.
#[doc(hidden)]
pub type DynCall<'a, A, Args> =
    <<A as HookPoint<Args>>::Mode as Mode>::Call<'a, Args, <A as HookPoint<Args>>::Return>;

impl<'a, A: ?Sized + HookPoint<Args>, Args: 'static> Next<'a, A, Args> {
    /// Runs the rest of the call with these arguments and gives what it returns: a future of it on
    /// async methods.
    pub fn run(&self, args: Args) -> Running<'a, A, Args> {
        self.call.start(self.call, self.index + 1, args)
    }

    /// The error of a call that this hook fails, with its name.
    pub fn fail<E>(&self, cause: impl Into<BoxError>) -> E
    where
        A: HookPoint<Args, Kind = Fallible>,
        Fallible: ReturnKind<A::Return, Error = E, Fault = BoxError>,
    {
        let (level, name) = self.call.hook(self.index);
        Fallible::fail(cause.into(), |source| HookError::Failed {
            hook: name.to_owned(),
            hook_type: HookType::new(Phase::Around, A::METHOD),
            level,
            source,
        })
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> fmt::Debug for Next<'_, A, Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hooks = self.call.hooks() - self.index - 1;
        f.debug_struct("Next").field("hooks", &hooks).finish_non_exhaustive()
    }
}

type AroundLink<'a, A, Args> =
    Link<'a, Around<A, Args>, Around<<A as HookPoint<Args>>::Base, Args>>;

/// A call with around hooks, outermost first.
pub(crate) struct Call<'a, A: HookPoint<Args>, Args: 'static> {
    agent: &'a A,
    links: Vec<AroundLink<'a, A, Args>>,
}

impl<'a, A: HookPoint<Args>, Args: 'static> Call<'a, A, Args> {
    pub(crate) fn new(agent: &'a A, hooks: &'a Snapshot<A, Args>) -> Self {
        Self { agent, links: hooks.links::<A, Args, _, _>().collect() }
    }

    /// Takes hooks that were to run once, and have, out of their registries.
    pub(crate) fn remove_spent(&self)
    where
        A: HasHooks,
    {
        let hooks = self.agent.hooks();
        for link in &self.links {
            match *link {
                Link::Own(level, entry) => {
                    Place { level, hooks }.remove_spent::<A, Args, _>(entry);
                }
                Link::Base(level, entry) => {
                    Place { level, hooks }.remove_spent::<A::Base, Args, _>(entry);
                }
            }
        }
    }
}

impl<A: AroundPoint<Args>, Args: 'static> AroundCall<Args, A::Mode, A::Return>
    for Call<'_, A, Args>
{
    fn start<'a>(
        &'a self,
        call: &'a DynCall<'a, A, Args>,
        from: usize,
        args: Args,
    ) -> Running<'a, A, Args> {
        for (index, link) in self.links.iter().enumerate().skip(from) {
            match link {
                Link::Own(_, entry) if entry.applies(self.agent, &args) => {
                    return entry.hook.run.start(
                        self.agent,
                        args,
                        Next { call, index, marker: PhantomData },
                    );
                }
                Link::Base(_, entry) => {
                    if let Some(base) = self.agent.as_base()
                        && entry.applies(base, &args)
                    {
                        return entry.hook.run.start(
                            base,
                            args,
                            Next { call, index, marker: PhantomData },
                        );
                    }
                }
                Link::Own(..) => {}
            }
        }
        self.agent.start(args)
    }

    fn hook(&self, index: usize) -> (Level, &str) {
        match &self.links[index] {
            Link::Own(level, entry) => (*level, &entry.name),
            Link::Base(level, entry) => (*level, &entry.name),
        }
    }

    fn hooks(&self) -> usize {
        self.links.len()
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
