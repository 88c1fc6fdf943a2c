//! Around hooks: they run the rest of the call as often as they like.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::error::{BoxError, HookError};
use crate::hook::into_hook::{AsyncInPlace, Bound, Erased, IntoHook, Object, SyncInPlace};
use crate::hook_type::{HookType, Phase};
use crate::point::call_mode::{
    AsyncMethod, BoxFuture, Immediate, Mode, Position, RestOfCall, SyncMethod,
};
use crate::point::hook_point::HookPoint;
use crate::point::hook_slot::{Around, HookSlot, NoUndo};
use crate::point::return_kind::{FallibleMethod, ReturnKind};

/// The rest of a call for an around hook: the hooks further in, then the body.
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
///             0 => Err(hooks_core::RegistryError::from("pre".parse::<hooks_core::HookType>().unwrap_err()).into()),
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
    /// The position of the hook that has this.
    at: Position,
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
    pub(crate) fn new(call: &'a DynCall<'a, A, Args>, at: Position) -> Self {
        Self { call, at, marker: PhantomData }
    }

    /// Runs the rest of the call with these arguments and gives what it returns: a future of it on
    /// async methods.
    pub fn run(&self, args: Args) -> Running<'a, A, Args> {
        self.call.start(self.call, self.at.next(), args)
    }

    /// The error of a call that this hook fails, with its name.
    pub fn fail<E>(&self, cause: impl Into<BoxError>) -> E
    where
        A: HookPoint<Args, Kind = FallibleMethod>,
        FallibleMethod: ReturnKind<A::Return, Error = E, Fault = BoxError>,
    {
        let (level, name) = self.call.hook(self.at);
        FallibleMethod::fail(cause.into(), |source| HookError::Failed {
            hook: name.to_owned(),
            hook_type: HookType::new(Phase::Around, A::METHOD),
            level,
            source,
        })
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> fmt::Debug for Next<'_, A, Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hooks = self.call.hooks_from(self.at.next());
        f.debug_struct("Next").field("hooks", &hooks).finish_non_exhaustive()
    }
}

/// An around hook that is a type: for hooks with state of their own.
pub trait AroundHook<A: ?Sized + HookPoint<Args>, Args: 'static>: Send + Sync + 'static {
    /// Runs in place of the rest of the call; `next` runs that.
    fn run(
        &self,
        agent: &A,
        args: Args,
        next: Next<'_, A, Args>,
    ) -> impl Future<Output = A::Return> + Send;
}

/// A form of an around hook; the parameters are there to be named in messages.
#[diagnostic::on_unimplemented(
    message = "this is not an around hook of `{A}` with `{Args}`",
    label = "its parameters, what it returns or `Send` do not fit: see the notes",
    note = "it is `|agent: &{A}, args: {Args}, next: Next<'_, {A}, {Args}>|` and returns what the method \
            returns: `{Return}`; a closure needs these types, unless it is written with `hook!`",
    note = "it is async where the method is, and only there: this one is `{Mode}`; an async closure that \
            captures is written `hook!(Agent::AROUND_REPLY, async move |agent, args, next| ..)`, which \
            also shows what is not `Send`"
)]
#[doc(hidden)]
pub trait AroundForm<H, A: ?Sized + HookPoint<Args>, Args: 'static, Return, Mode, Form> {
    fn erase(hook: H) -> ErasedAround<A, Args>;
}

/// An around hook in its erased form.
#[doc(hidden)]
pub struct ErasedAround<A: ?Sized + HookPoint<Args>, Args> {
    pub(crate) run: Arc<dyn StartAround<A, Args>>,
}

/// Starts an around hook: a future on async methods, the value itself on sync ones.
pub(crate) trait StartAround<A: ?Sized + HookPoint<Args>, Args: 'static>:
    Send + Sync
{
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
    type Hook = ErasedAround<A, Args>;
    const PHASE: Phase = Phase::Around;
}

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
    A: ?Sized + HookPoint<Args, Mode = SyncMethod>,
    Args: 'static,
    F: Fn(&A, Args, Next<'_, A, Args>) -> A::Return + Send + Sync + 'static,
{
    fn erase(given: F) -> ErasedAround<A, Args> {
        ErasedAround { run: Arc::new(Plain(given)) }
    }
}

#[diagnostic::do_not_recommend]
impl<A, Args, F> AroundForm<F, A, Args, A::Return, A::Mode, AsyncInPlace> for Around<A, Args>
where
    A: ?Sized + HookPoint<Args, Mode = AsyncMethod>,
    Args: 'static,
    F: for<'a> AsyncAroundFn<'a, A, Args> + Send + Sync + 'static,
{
    fn erase(given: F) -> ErasedAround<A, Args> {
        ErasedAround { run: Arc::new(Function(given)) }
    }
}

#[diagnostic::do_not_recommend]
impl<A, Args, T> AroundForm<T, A, Args, A::Return, A::Mode, Object> for Around<A, Args>
where
    A: ?Sized + HookPoint<Args, Mode = AsyncMethod>,
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

/// An async function.
struct Function<F>(F);

impl<A, Args, T> StartAround<A, Args> for Own<T>
where
    A: ?Sized + HookPoint<Args, Mode = AsyncMethod>,
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
    A: ?Sized + HookPoint<Args, Mode: Immediate>,
    Args: 'static,
    F: Fn(&A, Args, Next<'_, A, Args>) -> A::Return + Send + Sync,
{
    fn start<'a>(
        &'a self,
        agent: &'a A,
        args: Args,
        next: Next<'a, A, Args>,
    ) -> Running<'a, A, Args> {
        A::Mode::running(self.0(agent, args, next))
    }
}

impl<A, Args, F> StartAround<A, Args> for Function<F>
where
    A: ?Sized + HookPoint<Args, Mode = AsyncMethod>,
    Args: 'static,
    F: for<'a> AsyncAroundFn<'a, A, Args> + Send + Sync,
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

impl<A: ?Sized + HookPoint<Args>, Args: 'static> Around<A, Args> {
    /// A closure as an around hook of a sync method, `|agent, args, next|`: the types of its parameters
    /// are inferred. See [`Pre::sync`](crate::Pre::sync).
    pub fn sync<F>(self, hook: F) -> ErasedAround<A, Args>
    where
        A::Mode: Immediate,
        F: Fn(&A, Args, Next<'_, A, Args>) -> A::Return + Send + Sync + 'static,
    {
        ErasedAround { run: Arc::new(Plain(hook)) }
    }
}

#[doc(hidden)]
impl<A: ?Sized + HookPoint<Args, Mode = AsyncMethod>, Args: 'static> Around<A, Args> {
    /// Binds an async closure to this type, as for a pre hook.
    pub fn bind<F, Call>(self, hook: F, call: Call) -> ErasedAround<A, Args>
    where
        F: AsyncFn(&A, Args, Next<'_, A, Args>) -> A::Return + Send + Sync + 'static,
        Call: for<'a> Fn(Self, &'a F, &'a A, Args, Next<'a, A, Args>) -> BoxFuture<'a, A::Return>
            + Send
            + Sync
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
    A: ?Sized + HookPoint<Args, Mode = AsyncMethod>,
    Args: 'static,
    F: Send + Sync,
    Call: for<'a> Fn(
            Around<A, Args>,
            &'a F,
            &'a A,
            Args,
            Next<'a, A, Args>,
        ) -> BoxFuture<'a, A::Return>
        + Send
        + Sync,
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
