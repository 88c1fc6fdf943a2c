//! Pre hooks: what they look like.

use std::ops::ControlFlow;

use crate::error::{BoxError, HookError};
use crate::hook::into_hook::{Bound, IntoHook, Object, SyncInPlace};
use crate::hook::stage::{
    AsyncHook, AsyncHookFn, Decided, ErasedHook, Function, HookAnswer, HookForm, KeepsArgs, Stage,
    StepResult, SyncHookFn, deciding,
};
use crate::hook_type::Phase;
use crate::point::call_mode::{BoxFuture, Waiting};
use crate::point::hook_point::{Error, Fault, HookPoint, Output};
use crate::point::hook_slot::{HookSlot, KeepArgs, Pre};
use crate::point::return_kind::ReturnKind;

impl<A: ?Sized + HookPoint<Args>, Args: 'static> HookSlot for Pre<A, Args> {
    type Agent = A;
    type Args = Args;
    type Subject = Args;
    type Hook = ErasedHook<Self>;
    const PHASE: Phase = Phase::Pre;

    fn waits(hook: &Self::Hook) -> bool {
        hook.waits()
    }

    fn may_answer(hook: &Self::Hook) -> bool {
        hook.may_exit
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> Stage for Pre<A, Args> {
    type Seen = ();
    type Exit = Output<A, Args>;
    type Fault = Fault<A, Args>;
    type Error = Error<A, Args>;
    const OUTCOMES: [&'static str; 3] = ["continued", "replaced", "returned"];

    fn args<'a>((): &'a (), args: &'a Args) -> &'a Args {
        args
    }

    fn fail(fault: Self::Fault, name_it: impl FnOnce(BoxError) -> HookError) -> Self::Error {
        A::Kind::fail(fault, name_it)
    }

    fn raise(failure: HookError) -> Result<Self::Error, HookError> {
        A::Kind::raise(failure)
    }
}

impl<A, Args, O> HookAnswer<Pre<A, Args>> for ControlFlow<O>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    A::Kind: ReturnKind<A::Return, Output = O>,
{
    fn into_step(self) -> StepResult<Pre<A, Args>> {
        match self {
            ControlFlow::Continue(()) => None,
            ControlFlow::Break(output) => Some(Box::new(Decided::Exit(output))),
        }
    }
}

/// A pre hook that is a type: for hooks with state of their own.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use hooks_core::{HookError, HookResult, Hookable, Hooks, PreHook, hookable};
///
/// #[derive(Hookable, Default)]
/// struct Greeter {
///     hooks: Hooks,
/// }
///
/// #[hookable]
/// impl Greeter {
///     async fn reply(&self, name: String) -> Result<String, HookError> {
///         Ok(format!("Hello, {name}"))
///     }
/// }
///
/// struct Quota {
///     left: AtomicUsize,
/// }
///
/// impl PreHook<Greeter, GreeterReplyArgs> for Quota {
///     type Answer = HookResult;
///
///     async fn run(&self, _: &Greeter, _: &mut GreeterReplyArgs) -> HookResult {
///         let take_one = |left: usize| left.checked_sub(1);
///         let taken = self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, take_one);
///         taken.map(drop).map_err(|_| "the quota is used up".into())
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let greeter = Greeter::default();
/// greeter.register_instance_hook(Greeter::PRE_REPLY, "quota", Quota { left: 1.into() });
/// assert!(greeter.reply("Ada".to_owned()).await.is_ok());
/// assert!(greeter.reply("Ada".to_owned()).await.is_err());
/// # });
/// ```
pub trait PreHook<A: ?Sized + HookPoint<Args>, Args: 'static>: Send + Sync + 'static {
    /// What [`run`](PreHook::run) returns.
    type Answer: HookAnswer<Pre<A, Args>>;

    /// Runs before the body.
    fn run(&self, agent: &A, args: &mut Args) -> impl Future<Output = Self::Answer> + Send;
}

/// A form of a pre hook; the parameters are there to be named in messages.
#[diagnostic::on_unimplemented(
    message = "this is not a pre hook of `{A}` with `{Args}`",
    label = "its parameters, its answer or `Send` do not fit: see the notes",
    note = "in place: `|agent: &{A}, args: &mut {Args}|`; to look and perhaps replace: `|agent: &{A}, \
            args: &{Args}|`; a closure needs these types, unless it is written with `hook!`",
    note = "it returns `()`, `Option<{Args}>` or `ControlFlow<{Output}>`; `HookResult<..>` of these only where the \
            method returns a `Result`: this one is `{Kind}`; an alias of `Result` whose name does not end \
            so needs `#[hook(fallible)]` on the method",
    note = "it may be an `async fn` where the method is async: this one is `{Mode}`; an async closure that \
            captures is written `hook!(Agent::PRE_REPLY, async move |agent, args| ..)`, which also shows \
            what is not `Send`"
)]
#[doc(hidden)]
pub trait PreForm<H, A: ?Sized + HookPoint<Args>, Args: 'static, Output, Mode, Kind, Form> {
    fn erase(hook: H) -> ErasedHook<Pre<A, Args>>;
}

impl<A, Args, H, Form> IntoHook<Pre<A, Args>, Form> for H
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    Pre<A, Args>: PreForm<H, A, Args, Output<A, Args>, A::Mode, A::Kind, Form>,
{
    fn into_hook(self) -> ErasedHook<Pre<A, Args>> {
        <Pre<A, Args>>::erase(self)
    }
}

#[diagnostic::do_not_recommend]
impl<A, Args, H, Form> PreForm<H, A, Args, Output<A, Args>, A::Mode, A::Kind, Form> for Pre<A, Args>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    Self: HookForm<H, Form>,
{
    fn erase(given: H) -> ErasedHook<Self> {
        Self::erase_form(given)
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> KeepsArgs for Pre<A, Args> {
    const KEEP_ARGS: KeepArgs<Self> = None;
}

impl<A, Args, View, F, R> SyncHookFn<Pre<A, Args>, View, R> for F
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    F: Fn(&A, View) -> R,
{
    fn call(&self, agent: &A, (): &(), view: View) -> R {
        self(agent, view)
    }
}

impl<A, Args, T> AsyncHook<Pre<A, Args>> for Function<T, Object>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    T: PreHook<A, Args>,
{
    fn start<'a>(
        &'a self,
        agent: &'a A,
        (): &'a (),
        args: &'a mut Args,
    ) -> BoxFuture<'a, StepResult<Pre<A, Args>>> {
        deciding(self.function.run(agent, args))
    }

    fn may_exit(&self) -> bool {
        T::Answer::MAY_EXIT
    }
}

impl<'a, A, Args, View, F, Fut> AsyncHookFn<'a, Pre<A, Args>, View> for F
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    F: Fn(&'a A, View) -> Fut,
    Fut: Future<Output: HookAnswer<Pre<A, Args>>> + Send + 'a,
{
    const MAY_EXIT: bool = <Fut::Output as HookAnswer<Pre<A, Args>>>::MAY_EXIT;

    fn call(
        &self,
        agent: &'a A,
        (): &'a (),
        view: View,
    ) -> BoxFuture<'a, StepResult<Pre<A, Args>>> {
        deciding(self(agent, view))
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> Pre<A, Args> {
    /// A sync closure as a hook of this type: the types of its parameters are inferred.
    ///
    /// ```
    /// use hooks_core::{Hookable, Hooks, hookable};
    ///
    /// #[derive(Hookable, Default)]
    /// struct Greeter {
    ///     hooks: Hooks,
    /// }
    ///
    /// #[hookable]
    /// impl Greeter {
    ///     fn reply(&self, name: &str) -> String {
    ///         format!("Hello, {name}")
    ///     }
    /// }
    ///
    /// let greeter = Greeter::default();
    /// let shout = Greeter::PRE_REPLY.sync(|_, args| args.name.make_ascii_uppercase());
    /// greeter.register_instance_hook(Greeter::PRE_REPLY, "shout", shout);
    /// assert_eq!(greeter.reply("Ada"), "Hello, ADA");
    /// ```
    pub fn sync<F, R>(self, hook: F) -> ErasedHook<Self>
    where
        F: Fn(&A, &mut Args) -> R + Send + Sync + 'static,
        R: HookAnswer<Self>,
    {
        <Self as HookForm<F, SyncInPlace<R>>>::erase_form(hook)
    }
}

#[doc(hidden)]
impl<A: ?Sized + HookPoint<Args>, Args: 'static> Pre<A, Args> {
    /// Binds an async closure to this type. `call` calls it and boxes the future: only there the
    /// future has a type that is known to be `Send`.
    pub fn bind<F, R, Call>(self, hook: F, call: Call) -> ErasedHook<Self>
    where
        A::Mode: Waiting,
        F: AsyncFn(&A, &mut Args) -> R + Send + Sync + 'static,
        R: HookAnswer<Self>,
        Call: for<'a> Fn(Self, &'a F, &'a A, &'a mut Args) -> BoxFuture<'a, StepResult<Self>>
            + Send
            + Sync
            + 'static,
    {
        let hook = ErasedHook::waiting(Bound { slot: self, hook, call }, None);
        ErasedHook { may_exit: R::MAY_EXIT, ..hook }
    }

    /// Boxes what a hook of this type will answer.
    pub fn boxed<'a, R: HookAnswer<Self>>(
        self,
        answer: impl Future<Output = R> + Send + 'a,
    ) -> BoxFuture<'a, StepResult<Self>> {
        deciding(answer)
    }
}

impl<A, Args, F, Call> AsyncHook<Pre<A, Args>> for Bound<Pre<A, Args>, F, Call>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    F: Send + Sync,
    Call: for<'a> Fn(
            Pre<A, Args>,
            &'a F,
            &'a A,
            &'a mut Args,
        ) -> BoxFuture<'a, StepResult<Pre<A, Args>>>
        + Send
        + Sync,
{
    fn start<'a>(
        &'a self,
        agent: &'a A,
        (): &'a (),
        args: &'a mut Args,
    ) -> BoxFuture<'a, StepResult<Pre<A, Args>>> {
        (self.call)(self.slot, &self.hook, agent, args)
    }
}
