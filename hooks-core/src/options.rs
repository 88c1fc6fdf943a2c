//! What a hook is registered with besides its code.

use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::mode::Async;
use crate::point::{Fallible, HookPoint};
use crate::slot::{Around, HookSlot, OnError, Post, Pre};

/// What a hook is registered with besides its code: a name, a priority, and limits.
///
/// Hooks of lower priority run first; the default is 100. The type parameters are inferred; they
/// let the compiler refuse options that make no sense for a hook type.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_core::{Hook, HookError, Hookable, Hooks, Ignore, hook, hookable};
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
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let greeter = Greeter::default();
/// greeter.register_instance_hook_with(
///     Greeter::PRE_REPLY,
///     Hook::named("enrich")
///         .priority(10)
///         .timeout(Duration::from_millis(1))
///         .on_failure(Ignore)
///         .when(|_: &Greeter, args: &GreeterReplyArgs| args.name != "Bob"),
///     hook!(Greeter::PRE_REPLY, async |_, args| {
///         args.name.push_str(" and what a slow service knows of her");
///         std::future::pending::<()>().await;
///     }),
/// );
/// // Too slow, so ignored, and the arguments are as they were.
/// assert_eq!(greeter.reply("Ada".to_owned()).await.unwrap(), "Hello, Ada");
/// # });
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Hook<F = Fail, W = Always, L = Unlimited> {
    name: Arc<str>,
    priority: i32,
    timeout: Option<Duration>,
    once: bool,
    when: W,
    location: Option<&'static Location<'static>>,
    marker: PhantomData<fn() -> (F, L)>,
}

/// A failure of the hook fails the call. A panic unwinds. The default.
#[derive(Clone, Copy, Debug)]
pub struct Fail;

/// A failure of the hook, a panic too, is reported through `tracing` and otherwise ignored: what
/// the hook was given to change is as it was before.
#[derive(Clone, Copy, Debug)]
pub struct Ignore;

/// The hook runs in every call. The default.
#[derive(Clone, Copy, Debug)]
pub struct Always;

/// The hook may take its time. The default.
#[derive(Clone, Copy, Debug)]
pub struct Unlimited;

/// The hook has a timeout.
#[derive(Clone, Copy, Debug)]
pub struct Timed;

impl Hook {
    /// The priority of a hook that names none.
    pub const DEFAULT_PRIORITY: i32 = 100;

    /// Options with everything at its default. The name is what removes or replaces the hook.
    pub fn named(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            priority: Self::DEFAULT_PRIORITY,
            timeout: None,
            once: false,
            when: Always,
            location: None,
            marker: PhantomData,
        }
    }
}

impl<F, W, L> Hook<F, W, L> {
    /// Where the hook stands in its level: lower runs first.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// The hook runs in the first call that it applies to, then it is removed.
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }

    /// Where plans say that the hook was registered, for a library that registers it for its caller;
    /// else it is the line that registers it.
    pub fn registered_at(mut self, location: &'static Location<'static>) -> Self {
        self.location = Some(location);
        self
    }

    /// What happens when the hook fails: [`Fail`] or [`Ignore`].
    ///
    /// `Ignore` is for pre, post and error hooks, and needs what they change to be `Clone`.
    pub fn on_failure<G>(self, _: G) -> Hook<G, W, L> {
        let Self { name, priority, timeout, once, when, location, .. } = self;
        Hook { name, priority, timeout, once, when, location, marker: PhantomData }
    }

    /// The hook runs in calls that this says yes to: `|agent: &Agent, args: &Args| -> bool`.
    ///
    /// A panic in it unwinds. Not for settled hooks, which have no arguments to look at.
    pub fn when<V>(self, when: V) -> Hook<F, V, L> {
        let Self { name, priority, timeout, once, location, .. } = self;
        Hook { name, priority, timeout, once, when, location, marker: PhantomData }
    }

    /// How long the hook may take, in a runtime of tokio with time. A longer one is dropped and has
    /// failed.
    ///
    /// For pre and post hooks of async methods. A sync hook cannot be stopped, so it is not. Where
    /// the method cannot fail, the failure must be ignored: `on_failure(Ignore)`.
    #[cfg(feature = "timeout")]
    pub fn timeout(self, timeout: Duration) -> Hook<F, W, Timed> {
        let Self { name, priority, once, when, location, .. } = self;
        let timeout = Some(timeout);
        Hook { name, priority, timeout, once, when, location, marker: PhantomData }
    }

    /// The name of the hook.
    #[cfg(feature = "json")]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Where it was registered, if it is not where it is.
    pub(crate) fn location(&self) -> Option<&'static Location<'static>> {
        self.location
    }

    /// The name, the priority, and what the hook is held to.
    pub(crate) fn into_parts<P: HookSlot>(self) -> (Arc<str>, i32, Option<Arc<Limits<P>>>)
    where
        F: OnFailure<P>,
        W: When<P>,
    {
        let Self { name, priority, timeout, once, when, .. } = self;
        let (undo, when) = (F::undo(), when.predicate());
        let is_limited = timeout.is_some() || once || undo.is_some() || when.is_some();
        let fired = once.then(AtomicBool::default);
        let limits = is_limited.then(|| Arc::new(Limits { timeout, fired, undo, when }));
        (name, priority, limits)
    }
}

/// What a hook is held to; most are held to nothing.
pub(crate) struct Limits<P: HookSlot> {
    pub(crate) timeout: Option<Duration>,
    /// Of a hook that runs once: whether it has.
    fired: Option<AtomicBool>,
    /// Copies what a failing hook must give back.
    pub(crate) undo: Undo<P>,
    when: Option<Arc<Predicate<P>>>,
}

type Undo<P> = Option<fn(&<P as HookSlot>::Subject) -> <P as HookSlot>::Subject>;
type Predicate<P> = dyn Fn(&<P as HookSlot>::Agent, &<P as HookSlot>::Args) -> bool + Send + Sync;

impl<P: HookSlot> Limits<P> {
    /// Whether the hook runs in this call; of a hook that runs once, this is the run.
    pub(crate) fn applies(&self, agent: &P::Agent, args: &P::Args) -> bool {
        self.when.as_ref().is_none_or(|when| when(agent, args)) && self.fire()
    }

    /// The same limits, counting for themselves from here on.
    pub(crate) fn parted(&self) -> Self {
        let fired = self.fired.as_ref().map(|fired| fired.load(Ordering::Acquire).into());
        Self { timeout: self.timeout, fired, undo: self.undo, when: self.when.clone() }
    }

    /// Takes the one run of a hook that runs once.
    pub(crate) fn fire(&self) -> bool {
        self.fired.as_ref().is_none_or(|fired| !fired.swap(true, Ordering::AcqRel))
    }

    /// Whether the hook has had its one run.
    pub(crate) fn is_spent(&self) -> bool {
        self.fired.as_ref().is_some_and(|fired| fired.load(Ordering::Acquire))
    }
}

/// What happens when a hook of the type `P` fails.
#[diagnostic::on_unimplemented(
    message = "a failure cannot be handled by `{Self}` at `{P}`",
    note = "`Ignore` puts back what the hook changed, so that must be `Clone`; around and settled \
            hooks have nothing to put back"
)]
pub trait OnFailure<P: HookSlot> {
    #[doc(hidden)]
    fn undo() -> Undo<P>;
}

impl<P: HookSlot> OnFailure<P> for Fail {
    fn undo() -> Undo<P> {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<P: HookSlot<Subject: Clone>> OnFailure<P> for Ignore {
    fn undo() -> Undo<P> {
        Some(P::Subject::clone)
    }
}

/// In which calls a hook of the type `P` runs.
#[diagnostic::on_unimplemented(
    message = "this does not say when a hook of `{P}` runs",
    note = "it is `|agent: &Agent, args: &Args| -> bool`, with the types written out; settled hooks \
            have none"
)]
pub trait When<P: HookSlot> {
    #[doc(hidden)]
    fn predicate(self) -> Option<Arc<Predicate<P>>>;
}

impl<P: HookSlot> When<P> for Always {
    fn predicate(self) -> Option<Arc<Predicate<P>>> {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<P, W> When<P> for W
where
    P: HasArgs,
    W: Fn(&P::Agent, &P::Args) -> bool + Send + Sync + 'static,
{
    fn predicate(self) -> Option<Arc<Predicate<P>>> {
        Some(Arc::new(self))
    }
}

/// A hook type whose hooks see the arguments.
#[doc(hidden)]
pub trait HasArgs: HookSlot {}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> HasArgs for Pre<A, Args> {}
impl<A: ?Sized + HookPoint<Args>, Args: 'static> HasArgs for Around<A, Args> {}
impl<A: ?Sized + HookPoint<Args>, Args: 'static> HasArgs for Post<A, Args> {}
impl<A: ?Sized + HookPoint<Args>, Args: 'static> HasArgs for OnError<A, Args> {}

/// How long a hook of the type `P` that handles its failure by `F` may take.
#[diagnostic::on_unimplemented(
    message = "a hook of `{P}` cannot have a timeout here",
    note = "timeouts are for pre and post hooks of async methods; where the method cannot fail, add \
            `.on_failure(Ignore)`; an around hook limits `next.run(args)` itself"
)]
pub trait Limit<P: HookSlot, F> {}

impl<P: HookSlot, F> Limit<P, F> for Unlimited {}

#[diagnostic::do_not_recommend]
impl<A, Args> Limit<Pre<A, Args>, Fail> for Timed
where
    A: ?Sized + HookPoint<Args, Mode = Async, Kind = Fallible>,
    Args: 'static,
{
}

#[diagnostic::do_not_recommend]
impl<A, Args> Limit<Pre<A, Args>, Ignore> for Timed
where
    A: ?Sized + HookPoint<Args, Mode = Async>,
    Args: 'static,
{
}

#[diagnostic::do_not_recommend]
impl<A, Args> Limit<Post<A, Args>, Fail> for Timed
where
    A: ?Sized + HookPoint<Args, Mode = Async, Kind = Fallible>,
    Args: 'static,
{
}

#[diagnostic::do_not_recommend]
impl<A, Args> Limit<Post<A, Args>, Ignore> for Timed
where
    A: ?Sized + HookPoint<Args, Mode = Async>,
    Args: 'static,
{
}
