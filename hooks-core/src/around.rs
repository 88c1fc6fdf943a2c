//! Around hooks: they run the rest of the call as often as they like.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::entry::Entry;
use crate::error::{BoxError, HookError};
use crate::hook_type::{HookType, Level, Phase};
use crate::hookable::HasHooks;
use crate::mode::{AroundCall, Mode};
use crate::outcome::Outcome;
use crate::place::Place;
use crate::point::{AroundPoint, Fallible, HookPoint, ReturnKind};
use crate::slot::{Around, HookSlot, NoUndo};
use crate::snapshot::{Link, Snapshot};
use crate::trace::Watch;

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
                Link::Own(level, entry) if entry.applies(self.agent, &args) => {
                    let next = Next { call, index, marker: PhantomData };
                    return start_hook(self.agent, args, next, *level, entry);
                }
                Link::Base(level, entry) => {
                    if let Some(base) = self.agent.as_base()
                        && entry.applies(base, &args)
                    {
                        let next = Next { call, index, marker: PhantomData };
                        return start_hook(base, args, next, *level, entry);
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

fn start_hook<'a, A: ?Sized + HookPoint<Args>, Args: 'static>(
    agent: &'a A,
    args: Args,
    next: Next<'a, A, Args>,
    level: Level,
    entry: &'a Entry<Around<A, Args>>,
) -> Running<'a, A, Args> {
    let watch = Watch::start();
    let running = entry.hook.run.start(agent, args, next);
    if !watch.is_on() {
        return running;
    }
    A::Mode::then(running, move |returned: &A::Return| {
        let outcome = match A::Kind::outcome(returned) {
            Outcome::Ok(_) => "returned",
            _ => "failed",
        };
        watch.stop::<A, Args, _>(level, entry, outcome);
    })
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
    Send + std::marker::Sync
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
    type AsyncHooks = <A::Mode as Mode>::AsyncHooks;
    type Hook = ErasedAround<A, Args>;
    const PHASE: Phase = Phase::Around;
}
