//! Hooks after the body: post hooks look at its output, error hooks at the error.
//!
//! Both have one shape: the agent, the arguments, and a subject that they may change.

use std::convert::Infallible as Never;
use std::fmt;
use std::sync::Arc;

use crate::error::BoxError;
use crate::future::BoxFuture;
use crate::hook_type::Phase;
use crate::mode::Mode;
use crate::outcome::Recovery;
use crate::point::{Error, Fallible, Fault, HookPoint, Output, ReturnKind};
use crate::slot::{HookSlot, OnError, Post};

/// A hook type whose hooks run after the body: [`Post`] and [`OnError`].
pub trait After: HookSlot<Hook = ErasedAfter<Self>> {
    /// What a hook decided, whatever its form; by default nothing.
    #[doc(hidden)]
    type Step: Default;
    /// A word for it.
    #[doc(hidden)]
    fn outcome(step: &Self::Step) -> &'static str;
    /// What a hook may fail with.
    #[doc(hidden)]
    type Fault;
}

/// What an error hook decided.
#[doc(hidden)]
#[derive(Debug, Default)]
pub enum ErrorStep<E, Output> {
    #[default]
    Keep,
    Replace(E),
    Recover(Output),
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> HookSlot for Post<A, Args> {
    type Agent = A;
    type Args = Args;
    type Subject = Output<A, Args>;
    type AsyncHooks = <A::Mode as Mode>::AsyncHooks;
    type Hook = ErasedAfter<Self>;
    const PHASE: Phase = Phase::Post;
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> After for Post<A, Args> {
    type Step = Option<Output<A, Args>>;
    type Fault = Fault<A, Args>;

    fn outcome(step: &Self::Step) -> &'static str {
        if step.is_some() { "replaced" } else { "kept" }
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> HookSlot for OnError<A, Args> {
    type Agent = A;
    type Args = Args;
    type Subject = Error<A, Args>;
    type AsyncHooks = <A::Mode as Mode>::AsyncHooks;
    type Hook = ErasedAfter<Self>;
    const PHASE: Phase = Phase::Error;
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> After for OnError<A, Args> {
    type Step = ErrorStep<Error<A, Args>, Output<A, Args>>;
    type Fault = Never;

    fn outcome(step: &Self::Step) -> &'static str {
        match step {
            ErrorStep::Keep => "kept",
            ErrorStep::Replace(_) => "replaced",
            ErrorStep::Recover(_) => "recovered",
        }
    }
}

pub(crate) type AfterResult<P> = Result<<P as After>::Step, <P as After>::Fault>;

/// What a post hook or an error hook may return.
///
/// `()`: keep the output, or the error. A post hook may return `Option<Output>`, `Some` replaces
/// it, and where the method returns a `Result`, [`HookResult`](crate::HookResult) of either. An
/// error hook cannot fail; it may return `Option<Error>`, `Some` replaces the error, or
/// [`Recovery<Output>`](Recovery).
pub trait AfterAnswer<P: After> {
    #[doc(hidden)]
    fn into_step(self) -> AfterResult<P>;
}

impl<P: After> AfterAnswer<P> for () {
    fn into_step(self) -> AfterResult<P> {
        Ok(P::Step::default())
    }
}

impl<A, Args, O> AfterAnswer<Post<A, Args>> for Option<O>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    A::Kind: ReturnKind<A::Return, Output = O>,
{
    fn into_step(self) -> AfterResult<Post<A, Args>> {
        Ok(self)
    }
}

impl<A, Args, R> AfterAnswer<Post<A, Args>> for Result<R, BoxError>
where
    A: ?Sized + HookPoint<Args, Kind = Fallible>,
    Args: 'static,
    Fallible: ReturnKind<A::Return, Fault = BoxError>,
    R: AfterAnswer<Post<A, Args>>,
{
    fn into_step(self) -> AfterResult<Post<A, Args>> {
        self?.into_step()
    }
}

impl<A, Args, E> AfterAnswer<OnError<A, Args>> for Option<E>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    A::Kind: ReturnKind<A::Return, Error = E>,
{
    fn into_step(self) -> AfterResult<OnError<A, Args>> {
        Ok(self.map_or(ErrorStep::Keep, ErrorStep::Replace))
    }
}

impl<A, Args, O> AfterAnswer<OnError<A, Args>> for Recovery<O>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    A::Kind: ReturnKind<A::Return, Output = O>,
{
    fn into_step(self) -> AfterResult<OnError<A, Args>> {
        Ok(match self {
            Recovery::Fail => ErrorStep::Keep,
            Recovery::Recover(output) => ErrorStep::Recover(output),
        })
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
    type Answer: AfterAnswer<P>;

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
    fn erase(hook: H) -> ErasedAfter<Self>;
}

type SyncAfter<P> = dyn Fn(
        &<P as HookSlot>::Agent,
        &<P as HookSlot>::Args,
        &mut <P as HookSlot>::Subject,
    ) -> AfterResult<P>
    + Send
    + Sync;

/// A post hook or error hook in its erased form.
#[doc(hidden)]
pub struct ErasedAfter<P: After> {
    pub(crate) run: AfterRun<P>,
    /// The body consumes the arguments; a call that has such hooks keeps a copy for them.
    pub(crate) keep: fn(&P::Args) -> P::Args,
}

pub(crate) enum AfterRun<P: After> {
    Sync(Arc<SyncAfter<P>>),
    Async(Arc<dyn AsyncAfter<P>>, P::AsyncHooks),
}

/// An async hook; a call boxes its future, which may borrow from the hook.
pub(crate) trait AsyncAfter<P: After>: Send + Sync {
    fn start<'a>(
        &'a self,
        agent: &'a P::Agent,
        args: &'a P::Args,
        subject: &'a mut P::Subject,
    ) -> BoxFuture<'a, AfterResult<P>>;
}

impl<P: After> Clone for ErasedAfter<P> {
    fn clone(&self) -> Self {
        let run = match &self.run {
            AfterRun::Sync(hook) => AfterRun::Sync(hook.clone()),
            AfterRun::Async(hook, proof) => AfterRun::Async(hook.clone(), *proof),
        };
        Self { run, keep: self.keep }
    }
}

impl<P: After> fmt::Debug for ErasedAfter<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErasedAfter").finish_non_exhaustive()
    }
}
