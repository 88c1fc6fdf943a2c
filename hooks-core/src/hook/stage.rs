//! The common trait of pre, post and error hooks: each may change one value, or end its phase.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::error::{BoxError, HookError};
use crate::hook::into_hook::{AsyncInPlace, AsyncLook, Erased, Object, SyncInPlace, SyncLook};
use crate::point::call_mode::{AsyncMethod, BoxFuture};
use crate::point::hook_point::HookPoint;
use crate::point::hook_slot::{HookSlot, KeepArgs};

/// A hook type whose hooks may change one value: pre hooks the arguments, post hooks the output,
/// error hooks the error. Implemented here only.
pub trait Stage: HookSlot<Hook = ErasedHook<Self>> {
    /// What the hooks may look at besides: nothing before the body, after it the arguments.
    #[doc(hidden)]
    type Seen: 'static;
    /// What ends the phase: the output of the call.
    #[doc(hidden)]
    type Exit;
    /// What a hook fails with.
    #[doc(hidden)]
    type Fault;
    /// The error of the call.
    #[doc(hidden)]
    type Error;
    /// How a trace calls the steps: go on, replace, end.
    #[doc(hidden)]
    const OUTCOMES: [&'static str; 3];
    /// The arguments, as the hook is about to see them.
    #[doc(hidden)]
    fn args<'a>(seen: &'a Self::Seen, subject: &'a Self::Subject) -> &'a Self::Args;
    /// The error of a call that a hook failed.
    #[doc(hidden)]
    fn fail(fault: Self::Fault, name_it: impl FnOnce(BoxError) -> HookError) -> Self::Error;
    /// The error of a call whose hook was stopped; the failure itself where a hook cannot fail.
    #[doc(hidden)]
    fn raise(failure: HookError) -> Result<Self::Error, HookError>;
}

/// What a hook decided other than to go on, whatever its form.
#[doc(hidden)]
#[derive(Debug)]
pub enum Decided<S, X, F> {
    Replace(S),
    Exit(X),
    Fault(F),
}

pub(crate) type DecidedOf<P> =
    Decided<<P as HookSlot>::Subject, <P as Stage>::Exit, <P as Stage>::Fault>;
/// Boxed, so that it goes through registers: nearly every hook goes on.
pub(crate) type StepResult<P> = Option<Box<DecidedOf<P>>>;

/// What a pre, post or error hook may return.
///
/// `()`: go on. `Option<Args>` of a pre hook, `Option<Output>` of a post hook, `Option<Error>` of an
/// error hook: `Some` replaces the value. [`ControlFlow<Output>`](std::ops::ControlFlow) of a pre
/// hook: `Break` answers in place of the body. [`Recovery<Output>`](crate::Recovery) of an error
/// hook: `Recover` saves the call. Where the method returns a `Result`, pre and post hooks may
/// return a [`HookResult`](crate::HookResult) of each.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an answer of a hook for `{P}`",
    note = "a pre hook returns `()`, `Option<Args>` or `ControlFlow<Output>`, a post hook `()` or \
            `Option<Output>`, an error hook `()`, `Option<Error>` or `Recovery<Output>`; where the method \
            returns a `Result`, pre and post hooks may return `HookResult<..>` of these",
    note = "a closure that gives a future is written `hook!(Agent::PRE_REPLY, async move |agent, args| ..)`"
)]
pub trait HookAnswer<P: Stage> {
    /// Whether it may end the phase.
    #[doc(hidden)]
    const MAY_EXIT: bool = true;
    #[doc(hidden)]
    fn into_step(self) -> StepResult<P>;
}

impl<P: Stage> HookAnswer<P> for () {
    const MAY_EXIT: bool = false;

    #[inline]
    fn into_step(self) -> StepResult<P> {
        None
    }
}

/// A hook that does not return, as one that is still a `todo!()`.
impl<P: Stage> HookAnswer<P> for NoReturn {
    fn into_step(self) -> StepResult<P> {
        self
    }
}

/// `!`, which has no name where a type is expected.
type NoReturn = <fn() -> ! as Returns>::Output;

#[doc(hidden)]
pub trait Returns {
    type Output;
}

impl<T> Returns for fn() -> T {
    type Output = T;
}

impl<P: Stage> HookAnswer<P> for Option<P::Subject> {
    const MAY_EXIT: bool = false;

    fn into_step(self) -> StepResult<P> {
        self.map(|subject| Box::new(Decided::Replace(subject)))
    }
}

// One error type only, so that `?` and `Ok(())` in a closure need no annotation.
impl<P: Stage<Fault: CanFail>, R: HookAnswer<P>> HookAnswer<P> for Result<R, BoxError> {
    const MAY_EXIT: bool = R::MAY_EXIT;

    fn into_step(self) -> StepResult<P> {
        match self {
            Ok(answer) => answer.into_step(),
            Err(cause) => Some(Box::new(Decided::Fault(CanFail::fault(cause)))),
        }
    }
}

/// What hooks of a method that can fail fail with. Implemented here only.
#[diagnostic::on_unimplemented(
    message = "the method cannot fail, so its hooks cannot",
    label = "a hook that can fail",
    note = "return `()` in place of a `HookResult`; if the method returns an alias of `Result` whose name does \
            not end so, write `#[hook(fallible)]` on it"
)]
#[doc(hidden)]
pub trait CanFail {
    fn fault(cause: BoxError) -> Self;
}

impl CanFail for BoxError {
    fn fault(cause: BoxError) -> Self {
        cause
    }
}

type SyncHook<P> = dyn Fn(&<P as HookSlot>::Agent, &<P as Stage>::Seen, &mut <P as HookSlot>::Subject) -> StepResult<P>
    + Send
    + Sync;

/// A pre, post or error hook in its erased form.
#[doc(hidden)]
pub struct ErasedHook<P: Stage> {
    pub(crate) run: Run<P>,
    /// After the body, hooks see a copy of the arguments that it consumed.
    pub(crate) keep_args: KeepArgs<P>,
    /// Whether it may end the phase.
    pub(crate) may_exit: bool,
}

pub(crate) enum Run<P: Stage> {
    Sync(Arc<SyncHook<P>>),
    Async(Arc<dyn AsyncHook<P>>),
}

/// An async hook; a call boxes its future, which may borrow from the hook.
pub(crate) trait AsyncHook<P: Stage>: Send + Sync {
    fn start<'a>(
        &'a self,
        agent: &'a P::Agent,
        seen: &'a P::Seen,
        subject: &'a mut P::Subject,
    ) -> BoxFuture<'a, StepResult<P>>;

    /// Returns whether it may end the phase.
    fn may_exit(&self) -> bool {
        true
    }
}

impl<P: Stage> ErasedHook<P> {
    pub(crate) fn sync(
        hook: impl Fn(&P::Agent, &P::Seen, &mut P::Subject) -> StepResult<P> + Send + Sync + 'static,
        keep_args: KeepArgs<P>,
    ) -> Self {
        Self { run: Run::Sync(Arc::new(hook)), keep_args, may_exit: true }
    }

    pub(crate) fn waits(&self) -> bool {
        matches!(self.run, Run::Async(_))
    }

    pub(crate) fn waiting(hook: impl AsyncHook<P> + 'static, keep_args: KeepArgs<P>) -> Self {
        let may_exit = hook.may_exit();
        Self { run: Run::Async(Arc::new(hook)), keep_args, may_exit }
    }
}

impl<P: Stage> Clone for ErasedHook<P> {
    fn clone(&self) -> Self {
        let run = match &self.run {
            Run::Sync(hook) => Run::Sync(hook.clone()),
            Run::Async(hook) => Run::Async(hook.clone()),
        };
        Self { run, keep_args: self.keep_args, may_exit: self.may_exit }
    }
}

impl<P: Stage> fmt::Debug for ErasedHook<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErasedHook").finish_non_exhaustive()
    }
}

/// A stage whose hooks can be registered: after the body they need arguments that are `Clone`.
pub(crate) trait KeepsArgs: Stage {
    /// How the arguments are kept for the hook.
    const KEEP_ARGS: KeepArgs<Self>;
}

/// A form of a hook of this stage, and how it is erased.
pub(crate) trait HookForm<H, Form>: Stage {
    fn erase_form(hook: H) -> ErasedHook<Self>;
}

/// A function with the parameters of a hook of `P`. `View` is how it takes the value that it may
/// change: `&mut` or `&`.
pub(crate) trait SyncHookFn<P: Stage, View, R> {
    fn call(&self, agent: &P::Agent, seen: &P::Seen, view: View) -> R;
}

/// An `async fn` with the parameters of a hook of `P`, whose future is `Send`.
pub(crate) trait AsyncHookFn<'a, P: Stage, View> {
    const MAY_EXIT: bool;
    fn call(
        &self,
        agent: &'a P::Agent,
        seen: &'a P::Seen,
        view: View,
    ) -> BoxFuture<'a, StepResult<P>>;
}

impl<P: Stage> HookForm<ErasedHook<P>, Erased> for P {
    fn erase_form(hook: ErasedHook<P>) -> ErasedHook<P> {
        hook
    }
}

impl<P, F, R> HookForm<F, SyncInPlace<R>> for P
where
    P: KeepsArgs,
    F: for<'v> SyncHookFn<P, &'v mut P::Subject, R> + Send + Sync + 'static,
    R: HookAnswer<P>,
{
    fn erase_form(hook: F) -> ErasedHook<P> {
        let run = move |agent: &P::Agent, seen: &P::Seen, subject: &mut P::Subject| {
            hook.call(agent, seen, subject).into_step()
        };
        ErasedHook { may_exit: R::MAY_EXIT, ..ErasedHook::sync(run, P::KEEP_ARGS) }
    }
}

impl<P, F, R> HookForm<F, SyncLook<R>> for P
where
    P: KeepsArgs,
    F: for<'v> SyncHookFn<P, &'v P::Subject, R> + Send + Sync + 'static,
    R: HookAnswer<P>,
{
    fn erase_form(hook: F) -> ErasedHook<P> {
        let run = move |agent: &P::Agent, seen: &P::Seen, subject: &mut P::Subject| {
            hook.call(agent, seen, &*subject).into_step()
        };
        ErasedHook { may_exit: R::MAY_EXIT, ..ErasedHook::sync(run, P::KEEP_ARGS) }
    }
}

impl<P, F, Form> HookForm<F, Form> for P
where
    P: KeepsArgs<Agent: HookPoint<<P as HookSlot>::Args, Mode = AsyncMethod>>,
    Form: AsyncForm,
    Function<F, Form>: AsyncHook<P> + 'static,
{
    fn erase_form(hook: F) -> ErasedHook<P> {
        ErasedHook::waiting(Function::<F, Form>::new(hook), P::KEEP_ARGS)
    }
}

/// The form of an async hook.
pub(crate) trait AsyncForm {}

impl AsyncForm for AsyncInPlace {}
impl AsyncForm for AsyncLook {}
impl AsyncForm for Object {}

/// An async function or a type, called by the form that it has.
pub(crate) struct Function<F, Form> {
    pub(crate) function: F,
    form: PhantomData<fn() -> Form>,
}

impl<F, Form> Function<F, Form> {
    fn new(function: F) -> Self {
        Self { function, form: PhantomData }
    }
}

impl<P, F> AsyncHook<P> for Function<F, AsyncInPlace>
where
    P: Stage,
    F: for<'a> AsyncHookFn<'a, P, &'a mut P::Subject> + Send + Sync,
{
    fn start<'a>(
        &'a self,
        agent: &'a P::Agent,
        seen: &'a P::Seen,
        subject: &'a mut P::Subject,
    ) -> BoxFuture<'a, StepResult<P>> {
        self.function.call(agent, seen, subject)
    }

    fn may_exit(&self) -> bool {
        <F as AsyncHookFn<'static, P, &'static mut P::Subject>>::MAY_EXIT
    }
}

impl<P, F> AsyncHook<P> for Function<F, AsyncLook>
where
    P: Stage,
    F: for<'a> AsyncHookFn<'a, P, &'a P::Subject> + Send + Sync,
{
    fn start<'a>(
        &'a self,
        agent: &'a P::Agent,
        seen: &'a P::Seen,
        subject: &'a mut P::Subject,
    ) -> BoxFuture<'a, StepResult<P>> {
        self.function.call(agent, seen, subject)
    }

    fn may_exit(&self) -> bool {
        <F as AsyncHookFn<'static, P, &'static P::Subject>>::MAY_EXIT
    }
}

pin_project! {
    /// What an async hook will have decided.
    ///
    /// A type and not an `async` block, which would keep room for the future twice.
    struct Deciding<P, F> {
        #[pin]
        answer: F,
        stage: PhantomData<fn() -> P>,
    }
}

impl<P: Stage, F: Future<Output: HookAnswer<P>>> Future for Deciding<P, F> {
    type Output = StepResult<P>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<StepResult<P>> {
        self.project().answer.poll(context).map(HookAnswer::into_step)
    }
}

/// Boxes what a hook will answer.
#[inline]
pub(crate) fn deciding<'a, P, F>(answer: F) -> BoxFuture<'a, StepResult<P>>
where
    P: Stage,
    F: Future<Output: HookAnswer<P>> + Send + 'a,
{
    Box::pin(Deciding { answer, stage: PhantomData })
}
