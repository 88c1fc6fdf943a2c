//! The steps of a call that has hooks, by the functions that it finds with them.

use crate::dispatch::around::AroundCall;
use crate::dispatch::engine::apply;
use crate::dispatch::snapshot::{Levels, Tables, with_link};
use crate::dispatch::stack::guard::{self, Nesting};
use crate::dispatch::way::{AROUND, ERROR, Looked, POST, Visit, WayOf};
use crate::hook::stage::Run;
use crate::outcome::Outcome;
use crate::point::call_mode::{BoxFuture, Position};
use crate::point::hook_point::{AsyncBody, HookPoint, Reentry};
use crate::point::hook_slot::Pre;
use crate::point::return_kind::ReturnKind;

/// Who made the hooks of a call: its own type, or the trait of its method alone.
enum Side<'h, A: ?Sized + HookPoint<Args>, Args: 'static> {
    Own(WayOf<'h, A, Args>),
    Base(WayOf<'h, A::Base, Args>, &'h A::Base, Levels<'h, A::Base, Args>),
}

impl<'t, A: ?Sized + HookPoint<Args>, Args: 'static> Levels<'t, A, Args> {
    /// The way of the type's calls, if the type has hooks of its own.
    #[inline]
    fn own_way(self) -> Option<WayOf<'t, A, Args>> {
        let [instance, class] = self.own;
        Some(&instance.or(class)?.way)
    }

    /// The way of the trait's calls, if the trait has hooks.
    #[inline]
    fn base_way(self) -> Option<WayOf<'t, A::Base, Args>> {
        let [instance, class] = self.base;
        Some(&instance.or(class)?.way)
    }

    #[inline]
    fn side<'h>(self, agent: &'h A) -> Option<Side<'h, A, Args>>
    where
        't: 'h,
    {
        if let Some(way) = self.own_way() {
            return Some(Side::Own(way));
        }
        let levels = Levels { own: self.base, base: [None, None] };
        Some(Side::Base(self.base_way()?, agent.as_base()?, levels))
    }

    /// Whether a nested call runs no hooks at all.
    #[cold]
    fn skips(self) -> bool {
        // Here and not where hooks are registered: the trace names the type of the agent.
        self.trace_skipped();
        self.max_depth().is_none()
    }

    /// Looks which hooks there are, and runs the pre hooks if there are none but simple ones: for most calls
    /// then only the body is left, and nothing needs to be kept for what comes later.
    #[inline]
    pub(crate) fn look(
        self,
        agent: &A,
        args: &mut Option<Args>,
        copy: &mut Option<Args>,
        nesting: Nesting,
        short: u8,
    ) -> Looked<A::Return> {
        let side = self.side(agent);
        if nesting.depth > 0 && A::REENTRY == Reentry::Skip && side.is_some() && self.skips() {
            return Looked::Body;
        }
        match side {
            Some(Side::Own(way)) => (way.look)(agent, &self, args, copy, nesting, short),
            Some(Side::Base(way, base, hooks)) => {
                (way.look)(base, &hooks, args, copy, nesting, short)
            }
            None => {
                // Another point shares its bit in the registry.
                guard::leave();
                Looked::Body
            }
        }
    }

    /// The around hooks, if there are any.
    #[inline]
    fn onion<'h>(self, agent: &'h A, phases: u8) -> Option<Onion<'h, A, Args>>
    where
        't: 'h,
    {
        if phases & AROUND == 0 {
            return None;
        }
        Some(match self.side(agent)? {
            Side::Own(way) => Onion::Own(way, AroundCall::new(agent, self)),
            Side::Base(way, base, hooks) => Onion::Base(way, AroundCall::new(base, hooks)),
        })
    }

    /// Whether the call has failed and error hooks will see it.
    #[inline]
    pub(crate) fn handle(self, returned: &A::Return) -> bool {
        matches!(A::Kind::outcome(returned), Outcome::Err(_)) && self.masks().phases & ERROR != 0
    }

    /// Runs post hooks of which none waits.
    #[inline]
    pub(crate) fn post(self, agent: &A, args: Option<&Args>, returned: &mut A::Return) {
        match self.side(agent) {
            Some(Side::Own(way)) => (way.post)(agent, &self, args, returned),
            Some(Side::Base(way, base, hooks)) => (way.post)(base, &hooks, args, returned),
            None => {}
        }
    }
}

/// Runs the whole of a call.
#[inline]
pub(crate) fn go_long<'a, A, Args>(
    agent: &'a A,
    visit: Visit<'a>,
    args: Args,
) -> BoxFuture<'a, A::Return>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
{
    let hooks = visit.tables.hooks::<A, Args>(agent);
    if let Some(way) = hooks.own_way() {
        return (way.rest.drive)(agent, visit, args);
    }
    let (way, base) = (hooks.base_way().expect(HOOKED), agent.as_base().expect(HOOKED));
    (way.rest.drive)(base, visit.of_base(), args)
}

/// Runs the error hooks of a call that has failed.
#[cold]
pub(crate) fn go_failed<'a, A, Args>(
    agent: &'a A,
    visit: Visit<'a>,
    args: Args,
    returned: A::Return,
) -> BoxFuture<'a, A::Return>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
{
    let hooks = visit.tables.hooks::<A, Args>(agent);
    if let Some(way) = hooks.own_way() {
        return (way.rest.fail)(agent, visit, args, returned);
    }
    let (way, base) = (hooks.base_way().expect(HOOKED), agent.as_base().expect(HOOKED));
    (way.rest.fail)(base, visit.of_base(), args, returned)
}

/// Runs the whole of a call of a sync method.
#[inline]
pub(crate) fn go_long_now<A, Args>(agent: &A, visit: Visit<'_>, args: Args) -> A::Return
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
{
    let hooks = visit.tables.hooks::<A, Args>(agent);
    if let Some(way) = hooks.own_way() {
        return (way.rest.drive_now)(agent, &visit, args);
    }
    let (way, base) = (hooks.base_way().expect(HOOKED), agent.as_base().expect(HOOKED));
    (way.rest.drive_now)(base, &visit.of_base(), args)
}

/// Runs a call from the pre hook at a position on, if none of its post hooks waits.
#[expect(clippy::manual_async_fn, reason = "an `async fn` keeps room for its parameters twice")]
pub(crate) fn go_short<'a, A, Args>(
    agent: &'a A,
    tables: Tables<'a>,
    (mut at, phases): (Position, u8),
    mut args: Args,
) -> impl Future<Output = A::Return>
where
    A: ?Sized + AsyncBody<Args>,
    Args: 'static,
{
    async move {
        let hooks = tables.hooks::<A, Args>(agent);
        if hooks.own_way().is_none() {
            // The trait has looked at its hooks as those of a type of its own.
            at.group = at.group.saturating_add(1);
        }
        let mut ended = None;
        while let Some(link) = hooks.seek::<Pre<A, Args>, Pre<A::Base, Args>>(agent, &mut at) {
            at = at.next();
            let decided = {
                let started = with_link!(&link, |_, of, entry| match &entry.hook.run {
                    Run::Sync(hook) => Err(hook(of, &(), &mut args)),
                    Run::Async(hook) => Ok(hook.start(of, &(), &mut args)),
                });
                match started {
                    Ok(answer) => answer.await,
                    Err(answer) => answer,
                }
            };
            if let Some(decided) = decided {
                ended = with_link!(link, |level, _, entry| apply(decided, level, entry, &mut args));
                if ended.is_some() {
                    break;
                }
            }
        }
        if let Some(end) = ended {
            let mut returned = A::Kind::join(end);
            hooks.post(agent, hooks.copy(&args).as_ref(), &mut returned);
            return returned;
        }
        let copy = if phases & POST == 0 { None } else { hooks.copy(&args) };
        let mut returned = match hooks.onion(agent, phases) {
            None => A::body(agent, args).await,
            Some(Onion::Own(way, call)) => (way.rest.around)(&call, args).await,
            Some(Onion::Base(way, call)) => (way.rest.around)(&call, args).await,
        };
        if phases & POST != 0 {
            hooks.post(agent, copy.as_ref(), &mut returned);
        }
        returned
    }
}

/// Runs the around hooks of a sync method, its body, and its post hooks.
#[inline]
pub(crate) fn go_short_now<A, Args>(agent: &A, visit: &Visit<'_>, args: Args) -> A::Return
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
{
    let hooks = visit.tables.hooks::<A, Args>(agent);
    let copy = hooks.copy(&args);
    let mut returned = match hooks.onion(agent, AROUND) {
        None => unreachable!("{HOOKED}"),
        Some(Onion::Own(way, call)) => (way.rest.around_now)(&call, args),
        Some(Onion::Base(way, call)) => (way.rest.around_now)(&call, args),
    };
    hooks.post(agent, copy.as_ref(), &mut returned);
    returned
}

const HOOKED: &str = "such a call has hooks";

/// The around hooks of a call, and what runs them.
enum Onion<'h, A: ?Sized + HookPoint<Args>, Args: 'static> {
    Own(WayOf<'h, A, Args>, AroundCall<'h, A, Args>),
    Base(WayOf<'h, A::Base, Args>, AroundCall<'h, A::Base, Args>),
}

impl Visit<'_> {
    /// The same call, of the trait that the method is of.
    fn of_base(self) -> Self {
        Self { tables: self.tables.of_base(), ..self }
    }
}
