//! Runs the around hooks of a call, the first outermost, with the body inside.

use std::convert::Infallible as Never;
use std::future::{Ready, ready};

use crate::dispatch::report::trace::Watch;
use crate::dispatch::snapshot::{Levels, Link, with_link};
use crate::hook::around::{DynCall, Next, Running};
use crate::hook::entry::Entry;
use crate::hook_type::Level;
use crate::outcome::Outcome;
use crate::point::call_mode::{AsyncMethod, BoxFuture, Mode, Position, RestOfCall, SyncMethod};
use crate::point::hook_point::{AroundPoint, HookPoint};
use crate::point::hook_slot::Around;
use crate::point::return_kind::ReturnKind;
use crate::registry::hooks::Hooks;

/// How the calls of a method run their around hooks.
pub(super) trait AroundHooks<A: ?Sized + HookPoint<Args>, Args: 'static> {
    /// A call that runs them.
    type Call<'a>;
    /// What they will return.
    type Running<'a>: Future<Output = A::Return>;

    /// A call that runs them, if the method has around hooks at all.
    fn call<'a>(
        agent: &'a A,
        hooks: Levels<'a, A, Args>,
        is_nested: bool,
    ) -> Option<Self::Call<'a>>;

    /// Starts the outermost.
    fn start<'r, 'a: 'r>(call: &'r Self::Call<'a>, args: Args) -> Self::Running<'r>;
}

/// How the calls of a sync method run their around hooks.
pub(super) trait AroundNow<A: ?Sized + HookPoint<Args>, Args: 'static>:
    AroundHooks<A, Args>
{
    /// Runs them.
    fn now(call: &Self::Call<'_>, args: Args) -> A::Return;
}

/// Of a method that has no around hooks.
pub(super) enum NoAround {}

/// Of an async method.
pub(super) enum AsyncAround {}

/// Of a sync method.
pub(super) enum SyncAround {}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> AroundHooks<A, Args> for NoAround {
    type Call<'a> = Never;
    type Running<'a> = Ready<A::Return>;

    fn call<'a>(_: &'a A, _: Levels<'a, A, Args>, _: bool) -> Option<Never> {
        None
    }

    fn start<'r, 'a: 'r>(call: &'r Never, _: Args) -> Ready<A::Return> {
        match *call {}
    }
}

impl<A, Args> AroundHooks<A, Args> for AsyncAround
where
    A: ?Sized + AroundPoint<Args, Mode = AsyncMethod> + Sync,
    Args: 'static,
{
    type Call<'a> = AroundCall<'a, A, Args>;
    type Running<'a> = BoxFuture<'a, A::Return>;

    fn call<'a>(
        agent: &'a A,
        hooks: Levels<'a, A, Args>,
        is_nested: bool,
    ) -> Option<AroundCall<'a, A, Args>> {
        Some(AroundCall { agent, hooks, is_nested })
    }

    fn start<'r, 'a: 'r>(
        call: &'r AroundCall<'a, A, Args>,
        args: Args,
    ) -> BoxFuture<'r, A::Return> {
        call.start(call, Position::default(), args)
    }
}

impl<A, Args> AroundHooks<A, Args> for SyncAround
where
    A: ?Sized + AroundPoint<Args, Mode = SyncMethod>,
    Args: 'static,
{
    type Call<'a> = AroundCall<'a, A, Args>;
    type Running<'a> = Ready<A::Return>;

    fn call<'a>(
        agent: &'a A,
        hooks: Levels<'a, A, Args>,
        is_nested: bool,
    ) -> Option<AroundCall<'a, A, Args>> {
        Some(AroundCall { agent, hooks, is_nested })
    }

    fn start<'r, 'a: 'r>(call: &'r AroundCall<'a, A, Args>, args: Args) -> Ready<A::Return> {
        ready(call.start(call, Position::default(), args))
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> AroundNow<A, Args> for NoAround {
    fn now(call: &Never, _: Args) -> A::Return {
        match *call {}
    }
}

impl<A, Args> AroundNow<A, Args> for SyncAround
where
    A: ?Sized + AroundPoint<Args, Mode = SyncMethod>,
    Args: 'static,
{
    fn now(call: &AroundCall<'_, A, Args>, args: Args) -> A::Return {
        call.start(call, Position::default(), args)
    }
}

type AroundLink<'a, A, Args> =
    Link<'a, Around<A, Args>, Around<<A as HookPoint<Args>>::Base, Args>>;

/// How many around hooks may be inside of each other: they nest on the stack of the thread.
pub(super) const MAX_AROUND_HOOKS: usize = 256;

/// A call with around hooks.
pub(crate) struct AroundCall<'a, A: ?Sized + HookPoint<Args>, Args: 'static> {
    agent: &'a A,
    hooks: Levels<'a, A, Args>,
    /// Of a nested call only the hooks that are never skipped run.
    is_nested: bool,
}

impl<'a, A: ?Sized + HookPoint<Args>, Args: 'static> AroundCall<'a, A, Args> {
    /// A call that is not nested.
    pub(super) fn new(agent: &'a A, hooks: Levels<'a, A, Args>) -> Self {
        Self { agent, hooks, is_nested: false }
    }

    fn links(
        &self,
        from: Position,
    ) -> impl Iterator<Item = (Position, AroundLink<'a, A, Args>)> + use<'a, A, Args> {
        let is_nested = self.is_nested;
        let links = self.hooks.links(self.agent, from);
        links.filter(move |(_, link): &(_, AroundLink<'_, A, Args>)| !link.is_skipped(is_nested))
    }
}

impl<A: ?Sized + AroundPoint<Args>, Args: 'static> RestOfCall<Args, A::Mode, A::Return>
    for AroundCall<'_, A, Args>
{
    fn start<'a>(
        &'a self,
        call: &'a DynCall<'a, A, Args>,
        from: Position,
        args: Args,
    ) -> Running<'a, A, Args> {
        let hooks = self.agent.hooks();
        for (at, link) in self.links(from) {
            with_link!(link, |level, agent, entry| {
                if applies(level, agent, entry, hooks, &args) {
                    return start_hook(level, agent, entry, args, Next::new(call, at));
                }
            });
        }
        self.agent.start(args)
    }

    fn hook(&self, at: Position) -> (Level, &str) {
        let (_, link) = self.links(at).next().expect("the hook at that position asks");
        with_link!(link, |level, _, entry| (level, &entry.registration.name))
    }

    fn hooks_from(&self, from: Position) -> usize {
        self.links(from).count()
    }
}

/// Whether a hook runs in this call. One that runs once is taken out when it does.
fn applies<A: ?Sized + HookPoint<Args>, Args: 'static>(
    level: Level,
    agent: &A,
    entry: &Entry<Around<A, Args>>,
    hooks: &Hooks,
    args: &Args,
) -> bool {
    let applies = entry.applies(agent, args);
    if applies {
        entry.registration.remove_if_spent(level, hooks);
    }
    applies
}

fn start_hook<'a, A: ?Sized + HookPoint<Args>, Args: 'static>(
    level: Level,
    agent: &'a A,
    entry: &'a Entry<Around<A, Args>>,
    args: Args,
    next: Next<'a, A, Args>,
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
        watch.stop(level, entry, outcome);
    })
}
