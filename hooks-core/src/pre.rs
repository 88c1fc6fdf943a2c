//! Pre hooks: what they look like, what they answer, and their erased form.

use std::fmt;
use std::sync::Arc;

use crate::error::BoxError;
use crate::flow::Flow;
use crate::future::BoxFuture;
use crate::hook_type::Phase;
use crate::mode::Mode;
use crate::point::{Fallible, Fault, HookPoint, Output, ReturnKind};
use crate::slot::{HookSlot, Pre};

/// What a pre hook decided, whatever its form.
#[doc(hidden)]
#[derive(Debug)]
pub enum PreStep<Args, Output> {
    Continue,
    Replace(Args),
    Return(Output),
}

pub(crate) type PreResult<A, Args> = Result<PreStep<Args, Output<A, Args>>, Fault<A, Args>>;

/// What a pre hook may return.
///
/// `()`: go on. `Option<Args>`: `Some` replaces the arguments. [`Flow<Output>`](Flow): `Return`
/// answers in place of the body. Where the method returns a `Result`, also
/// [`HookResult`](crate::HookResult) of each.
pub trait PreAnswer<A: ?Sized + HookPoint<Args>, Args> {
    #[doc(hidden)]
    fn into_step(self) -> PreResult<A, Args>;
}

impl<A: ?Sized + HookPoint<Args>, Args> PreAnswer<A, Args> for () {
    fn into_step(self) -> PreResult<A, Args> {
        Ok(PreStep::Continue)
    }
}

impl<A: ?Sized + HookPoint<Args>, Args> PreAnswer<A, Args> for Option<Args> {
    fn into_step(self) -> PreResult<A, Args> {
        Ok(self.map_or(PreStep::Continue, PreStep::Replace))
    }
}

impl<A, Args, O> PreAnswer<A, Args> for Flow<O>
where
    A: ?Sized + HookPoint<Args>,
    A::Kind: ReturnKind<A::Return, Output = O>,
{
    fn into_step(self) -> PreResult<A, Args> {
        Ok(match self {
            Flow::Continue => PreStep::Continue,
            Flow::Return(output) => PreStep::Return(output),
        })
    }
}

// One error type only, so that `?` and `Ok(())` in a closure need no annotation.
impl<A, Args, R> PreAnswer<A, Args> for Result<R, BoxError>
where
    A: ?Sized + HookPoint<Args, Kind = Fallible>,
    Fallible: ReturnKind<A::Return, Fault = BoxError>,
    R: PreAnswer<A, Args>,
{
    fn into_step(self) -> PreResult<A, Args> {
        self?.into_step()
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
pub trait PreHook<A: ?Sized + HookPoint<Args>, Args>: Send + Sync + 'static {
    /// What [`run`](PreHook::run) returns.
    type Answer: PreAnswer<A, Args>;

    /// Runs before the body.
    fn run(&self, agent: &A, args: &mut Args) -> impl Future<Output = Self::Answer> + Send;
}

/// A form of a pre hook; the parameters are there to be named in messages.
#[diagnostic::on_unimplemented(
    message = "this is not a pre hook of `{A}` with `{Args}`",
    label = "its parameters, its answer or `Send` do not fit: see the notes",
    note = "in place: `|agent: &{A}, args: &mut {Args}|`; to look and perhaps replace: `|agent: &{A}, \
            args: &{Args}|`; a closure needs these types, unless it is written with `hook!`",
    note = "it returns `()`, `Option<{Args}>` or `Flow<{Output}>`; `HookResult<..>` of these only where the \
            method returns a `Result`: this one is `{Kind}`; an alias of `Result` whose name does not end \
            so needs `#[hook(fallible)]` on the method",
    note = "it may be an `async fn` where the method is async: this one is `{Mode}`; an async closure that \
            captures is written `hook!(Agent::PRE_REPLY, async move |agent, args| ..)`, which also shows \
            what is not `Send`"
)]
#[doc(hidden)]
pub trait PreForm<H, A: ?Sized + HookPoint<Args>, Args, Output, Mode, Kind, Form> {
    fn erase(hook: H) -> ErasedPre<A, Args>;
}

type SyncPre<A, Args> = dyn Fn(&A, &mut Args) -> PreResult<A, Args> + Send + Sync;
type AsyncHooks<A, Args> = <<A as HookPoint<Args>>::Mode as Mode>::AsyncHooks;

/// A pre hook in its erased form.
#[doc(hidden)]
pub struct ErasedPre<A: ?Sized + HookPoint<Args>, Args> {
    pub(crate) run: PreRun<A, Args>,
}

pub(crate) enum PreRun<A: ?Sized + HookPoint<Args>, Args> {
    Sync(Arc<SyncPre<A, Args>>),
    Async(Arc<dyn AsyncPre<A, Args>>, AsyncHooks<A, Args>),
}

/// An async pre hook; a call boxes its future, which may borrow from the hook.
pub(crate) trait AsyncPre<A: ?Sized + HookPoint<Args>, Args>: Send + Sync {
    fn start<'a>(&'a self, agent: &'a A, args: &'a mut Args) -> BoxFuture<'a, PreResult<A, Args>>;
}

impl<A: ?Sized + HookPoint<Args>, Args> Clone for ErasedPre<A, Args> {
    fn clone(&self) -> Self {
        let run = match &self.run {
            PreRun::Sync(hook) => PreRun::Sync(hook.clone()),
            PreRun::Async(hook, proof) => PreRun::Async(hook.clone(), *proof),
        };
        Self { run }
    }
}

impl<A: ?Sized + HookPoint<Args>, Args> fmt::Debug for ErasedPre<A, Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErasedPre").finish_non_exhaustive()
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> HookSlot for Pre<A, Args> {
    type Agent = A;
    type Args = Args;
    type Subject = Args;
    type AsyncHooks = AsyncHooks<A, Args>;
    type Hook = ErasedPre<A, Args>;
    const PHASE: Phase = Phase::Pre;
}
