//! Post and error hooks: what they look like.
//!
//! Both have one shape: the agent, the arguments, and a value that they may change.

use std::convert::Infallible as Never;

use crate::error::{BoxError, HookError};
use crate::hook::into_hook::{Bound, IntoHook, Object, SyncInPlace};
use crate::hook::stage::{
    AsyncHook, AsyncHookFn, Decided, ErasedHook, Function, HookAnswer, HookForm, KeepsArgs, Stage,
    StepResult, SyncHookFn, deciding,
};
use crate::hook_type::Phase;
use crate::outcome::Recovery;
use crate::point::call_mode::{BoxFuture, Waiting};
use crate::point::hook_point::{Error, Fault, HookPoint, Output};
use crate::point::hook_slot::{HookSlot, KeepArgs, OnError, Post};
use crate::point::return_kind::ReturnKind;

/// A hook type whose hooks run after the body: [`Post`] and [`OnError`].
pub trait After: Stage + Stage<Seen = <Self as HookSlot>::Args> {}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> After for Post<A, Args> {}
impl<A: ?Sized + HookPoint<Args>, Args: 'static> After for OnError<A, Args> {}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> HookSlot for Post<A, Args> {
    type Agent = A;
    type Args = Args;
    type Subject = Output<A, Args>;
    type Hook = ErasedHook<Self>;
    const PHASE: Phase = Phase::Post;

    fn waits(hook: &Self::Hook) -> bool {
        hook.waits()
    }

    fn keep_args(hook: &Self::Hook) -> KeepArgs<Self> {
        hook.keep_args
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> Stage for Post<A, Args> {
    type Seen = Args;
    type Exit = Never;
    type Fault = Fault<A, Args>;
    type Error = Error<A, Args>;
    const OUTCOMES: [&'static str; 3] = ["kept", "replaced", "ended"];

    fn args<'a>(args: &'a Args, _: &'a Self::Subject) -> &'a Args {
        args
    }

    fn fail(fault: Self::Fault, name_it: impl FnOnce(BoxError) -> HookError) -> Self::Error {
        A::Kind::fail(fault, name_it)
    }

    fn raise(failure: HookError) -> Result<Self::Error, HookError> {
        A::Kind::raise(failure)
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> HookSlot for OnError<A, Args> {
    type Agent = A;
    type Args = Args;
    type Subject = Error<A, Args>;
    type Hook = ErasedHook<Self>;
    const PHASE: Phase = Phase::Error;

    fn waits(hook: &Self::Hook) -> bool {
        hook.waits()
    }

    fn keep_args(hook: &Self::Hook) -> KeepArgs<Self> {
        hook.keep_args
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> Stage for OnError<A, Args> {
    type Seen = Args;
    type Exit = Output<A, Args>;
    type Fault = Never;
    type Error = Error<A, Args>;
    const OUTCOMES: [&'static str; 3] = ["kept", "replaced", "recovered"];

    fn args<'a>(args: &'a Args, _: &'a Self::Subject) -> &'a Args {
        args
    }

    fn fail(fault: Never, _: impl FnOnce(BoxError) -> HookError) -> Self::Error {
        match fault {}
    }

    fn raise(failure: HookError) -> Result<Self::Error, HookError> {
        Err(failure)
    }
}

impl<A, Args, O> HookAnswer<OnError<A, Args>> for Recovery<O>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    A::Kind: ReturnKind<A::Return, Output = O>,
{
    fn into_step(self) -> StepResult<OnError<A, Args>> {
        match self {
            Recovery::Fail => None,
            Recovery::Recover(output) => Some(Box::new(Decided::Exit(output))),
        }
    }
}

/// A post hook or error hook that is a type: for hooks with state of their own.
///
/// ```
/// use std::sync::Mutex;
///
/// use hooks_core::{AfterHook, HookError, Hookable, Hooks, Post, hookable};
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
/// #[derive(Default)]
/// struct Seen {
///     names: Mutex<Vec<String>>,
/// }
///
/// impl AfterHook<Post<Greeter, GreeterReplyArgs>> for Seen {
///     type Answer = ();
///
///     async fn run(&self, _: &Greeter, args: &GreeterReplyArgs, reply: &mut String) {
///         self.names.lock().unwrap().push(args.name.clone());
///         reply.push('!');
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let greeter = Greeter::default();
/// greeter.register_instance_hook(Greeter::POST_REPLY, "seen", Seen::default());
/// assert_eq!(greeter.reply("Ada".to_owned()).await.unwrap(), "Hello, Ada!");
/// # });
/// ```
pub trait AfterHook<P: After>: Send + Sync + 'static {
    /// What [`run`](AfterHook::run) returns.
    type Answer: HookAnswer<P>;

    /// Runs after the body.
    fn run(
        &self,
        agent: &P::Agent,
        args: &P::Args,
        subject: &mut P::Subject,
    ) -> impl Future<Output = Self::Answer> + Send;
}

/// A form of a post hook or an error hook; the parameters are there to be named in messages.
#[diagnostic::on_unimplemented(
    message = "this is not a hook for `{Self}`",
    label = "its parameters, its answer, `Send` or `Clone` do not fit: see the notes",
    note = "in place: `|agent: &{A}, args: &{Args}, changed: &mut {Subject}|`; to look and perhaps replace: \
            `|agent: &{A}, args: &{Args}, seen: &{Subject}|`; a closure needs these types, unless it is \
            written with `hook!`; `{Args}` must be `Clone`",
    note = "it returns `()` or `Option<{Subject}>`; a post hook also `HookResult<..>` of these, only where \
            the method returns a `Result`: this one is `{Kind}`; an error hook also `Recovery<Output>`; an \
            alias of `Result` whose name does not end so needs `#[hook(fallible)]` on the method",
    note = "it may be an `async fn` where the method is async: this one is `{Mode}`; an async closure that \
            captures is written `hook!(Agent::POST_REPLY, async move |agent, args, output| ..)`, which also \
            shows what is not `Send`"
)]
#[doc(hidden)]
pub trait AfterForm<H, A: ?Sized, Args, Subject, Mode, Kind, Form>: After {
    fn erase(hook: H) -> ErasedHook<Self>;
}

impl<A, Args, H, Form> IntoHook<Post<A, Args>, Form> for H
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    Post<A, Args>: AfterForm<H, A, Args, Output<A, Args>, A::Mode, A::Kind, Form>,
{
    fn into_hook(self) -> ErasedHook<Post<A, Args>> {
        <Post<A, Args>>::erase(self)
    }
}

impl<A, Args, H, Form> IntoHook<OnError<A, Args>, Form> for H
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    OnError<A, Args>: AfterForm<H, A, Args, Error<A, Args>, A::Mode, A::Kind, Form>,
{
    fn into_hook(self) -> ErasedHook<OnError<A, Args>> {
        <OnError<A, Args>>::erase(self)
    }
}

#[diagnostic::do_not_recommend]
impl<P, H, M, K, Form> AfterForm<H, P::Agent, P::Args, P::Subject, M, K, Form> for P
where
    P: After + HookForm<H, Form>,
{
    fn erase(given: H) -> ErasedHook<P> {
        P::erase_form(given)
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: Clone + 'static> KeepsArgs for Post<A, Args> {
    const KEEP_ARGS: KeepArgs<Self> = Some(Args::clone);
}

impl<A: ?Sized + HookPoint<Args>, Args: Clone + 'static> KeepsArgs for OnError<A, Args> {
    const KEEP_ARGS: KeepArgs<Self> = Some(Args::clone);
}

impl<P, View, F, R> SyncHookFn<P, View, R> for F
where
    P: After,
    F: Fn(&P::Agent, &P::Args, View) -> R,
{
    fn call(&self, agent: &P::Agent, args: &P::Args, view: View) -> R {
        self(agent, args, view)
    }
}

impl<P: After, T: AfterHook<P>> AsyncHook<P> for Function<T, Object> {
    fn start<'a>(
        &'a self,
        agent: &'a P::Agent,
        args: &'a P::Args,
        subject: &'a mut P::Subject,
    ) -> BoxFuture<'a, StepResult<P>> {
        deciding(self.function.run(agent, args, subject))
    }
}

impl<'a, P, View, F, Fut> AsyncHookFn<'a, P, View> for F
where
    P: After,
    F: Fn(&'a P::Agent, &'a P::Args, View) -> Fut,
    Fut: Future<Output: HookAnswer<P>> + Send + 'a,
{
    const MAY_EXIT: bool = <Fut::Output as HookAnswer<P>>::MAY_EXIT;

    fn call(
        &self,
        agent: &'a P::Agent,
        args: &'a P::Args,
        view: View,
    ) -> BoxFuture<'a, StepResult<P>> {
        deciding(self(agent, args, view))
    }
}

/// Arguments that hooks see after the body, as a copy. Every one that is `Clone`.
#[diagnostic::on_unimplemented(
    message = "post and error hooks see a copy of the arguments, and `{Self}` is not `Clone`",
    label = "arguments that are not `Clone`",
    note = "its arguments must be `Clone`, and its `derive(..)` must name it; a pre hook needs no copy"
)]
#[doc(hidden)]
pub trait SeenAfter: Clone {}

#[diagnostic::do_not_recommend]
impl<Args: Clone> SeenAfter for Args {}

macro_rules! bind_after {
    ($($slot:ident),*) => {$(
        impl<A: ?Sized + HookPoint<Args>, Args: 'static> $slot<A, Args> {
            /// A sync closure as a hook of this type, `|agent, args, value|`: the types of its parameters
            /// are inferred. See [`Pre::sync`](crate::Pre::sync).
            pub fn sync<F, R>(self, hook: F) -> ErasedHook<Self>
            where
                Args: SeenAfter,
                F: Fn(&A, &Args, &mut <Self as HookSlot>::Subject) -> R + Send + Sync + 'static,
                R: HookAnswer<Self>,
            {
                <Self as HookForm<F, SyncInPlace<R>>>::erase_form(hook)
            }
        }

        #[doc(hidden)]
        impl<A: ?Sized + HookPoint<Args>, Args: 'static> $slot<A, Args> {
            /// Binds an async closure to this type, as for a pre hook.
            pub fn bind<F, R, Call>(self, hook: F, call: Call) -> ErasedHook<Self>
            where
                A::Mode: Waiting,
                Args: SeenAfter,
                F: AsyncFn(&A, &Args, &mut <Self as HookSlot>::Subject) -> R
                    + Send
                    + Sync
                    + 'static,
                R: HookAnswer<Self>,
                Call: for<'a> Fn(
                        Self,
                        &'a F,
                        &'a A,
                        &'a Args,
                        &'a mut <Self as HookSlot>::Subject,
                    ) -> BoxFuture<'a, StepResult<Self>>
                    + Send
                    + Sync
                    + 'static,
            {
                ErasedHook::waiting(Bound { slot: self, hook, call }, Some(Args::clone))
            }

            /// Boxes what a hook of this type will answer.
            pub fn boxed<'a, R: HookAnswer<Self>>(
                self,
                answer: impl Future<Output = R> + Send + 'a,
            ) -> BoxFuture<'a, StepResult<Self>> {
                deciding(answer)
            }
        }
    )*};
}

bind_after!(Post, OnError);

impl<P, F, Call> AsyncHook<P> for Bound<P, F, Call>
where
    P: After,
    F: Send + Sync,
    Call: for<'a> Fn(
            P,
            &'a F,
            &'a P::Agent,
            &'a P::Args,
            &'a mut P::Subject,
        ) -> BoxFuture<'a, StepResult<P>>
        + Send
        + Sync,
{
    fn start<'a>(
        &'a self,
        agent: &'a P::Agent,
        args: &'a P::Args,
        subject: &'a mut P::Subject,
    ) -> BoxFuture<'a, StepResult<P>> {
        (self.call)(self.slot, &self.hook, agent, args, subject)
    }
}
