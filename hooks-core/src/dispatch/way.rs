//! How a call goes that has hooks: functions that are made where hooks are registered, so that a method
//! which nobody hooks carries none of them.

use std::any::TypeId;
use std::fmt;

use crate::dispatch::around::{AsyncAround, SyncAround};
use crate::dispatch::drive::{drive, drive_now};
use crate::dispatch::engine::{self, Progress};
use crate::dispatch::guard::{self, Nesting};
use crate::dispatch::receiver::SharedReceiver;
use crate::dispatch::snapshot::{Levels, Tables};
use crate::dispatch::trace;
use crate::hook::point_hooks::bit_of;
use crate::hook::stage::StepResult;
use crate::hook_type::Phase;
use crate::point::call_mode::{BoxFuture, Position, SyncMethod};
use crate::point::hook_point::{AroundPoint, AsyncBody, Error, HookPoint, Output, Reentry};
use crate::point::hook_slot::{Post, Pre};
use crate::point::return_kind::ReturnKind;

/// The ways of the calls of one method.
#[expect(clippy::type_complexity, reason = "functions of what a call is")]
pub(crate) struct Way<A: ?Sized + HookPoint<Args>, Args: 'static> {
    look: fn(&A, Levels<'_, A, Args>, &mut Option<Args>, Nesting, bool) -> Looked<A::Return>,
    begin: for<'h> fn(&'h A, Levels<'h, A, Args>, Position, &'h mut Args) -> Begun<'h, A, Args>,
    go_on: fn(&A, Levels<'_, A, Args>, Position, Decided<A, Args>, &mut Args) -> Next<A::Return>,
    copy: fn(Levels<'_, A, Args>, &Args) -> Option<Args>,
    post: fn(&A, Levels<'_, A, Args>, Option<&Args>, &mut A::Return),
    long: Long<A, Args>,
}

/// A pre hook that has to be awaited.
type Begun<'h, A, Args> = Option<BoxFuture<'h, Decided<A, Args>>>;

/// What a pre hook decided.
type Decided<A, Args> = StepResult<Pre<A, Args>>;

/// What is left of a call that has been looked at.
pub(crate) enum Looked<R> {
    /// Its body.
    Body,
    /// Nothing: a hook gave this.
    Answer(Box<R>),
    /// Its body and sync post hooks.
    Post,
    /// Pre hooks from the one on that has to be awaited, and then the same.
    Short(Position),
    /// All that may be, but the pre hooks before this one, if they have run.
    Long(Option<Position>),
}

/// How far the pre hooks of a call came.
pub(crate) enum Next<R> {
    /// To the end.
    Body,
    /// To one that has to be awaited.
    Waits(Position),
    /// To one that ended the call.
    Ended(R),
}

/// A call, apart from its arguments.
pub(crate) struct Visit<'r> {
    /// The id of the instance, which the body of a `&mut self` method may exchange.
    pub(crate) instance: u64,
    /// The method, for the guard.
    pub(crate) point: TypeId,
    pub(crate) nesting: Nesting,
    pub(crate) tables: Tables<'r>,
    /// The hook that goes on, if those before it have run.
    pub(crate) from: Option<Position>,
}

/// Where the rest of a call is that needs more than its body and simple hooks.
#[doc(hidden)]
pub trait Rest<A: ?Sized + HookPoint<Args>, Args> {
    const WAY: LongWay<A, Args>;
}

/// What may go to another thread: the arguments of an async method, and what it returns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not `Send`, so the hooks of the method cannot go to another thread",
    label = "an async method with an argument or an output that is not `Send`",
    note = "write `#[hook(?Send)]` on the method: it has no around hooks then"
)]
#[doc(hidden)]
pub trait Sendable: Send {}

#[diagnostic::do_not_recommend]
impl<T: Send> Sendable for T {}

/// In the call itself.
#[derive(Debug)]
#[doc(hidden)]
pub enum Carried {}

/// Of a method that takes `&self` and whose future is `Send`: where its hooks are registered.
#[derive(Debug)]
#[doc(hidden)]
pub enum Found {}

/// Of a sync method that takes `&self`: where its hooks are registered.
#[derive(Debug)]
#[doc(hidden)]
pub enum FoundNow {}

/// The rest of a call.
#[doc(hidden)]
pub struct LongWay<A: ?Sized + HookPoint<Args>, Args>(Long<A, Args>);

enum Long<A: ?Sized + HookPoint<Args>, Args> {
    Carried,
    Async(for<'a> fn(&'a A, Visit<'a>, Args) -> BoxFuture<'a, A::Return>),
    Sync(fn(&A, Visit<'_>, Args) -> A::Return),
}

impl<A: ?Sized + HookPoint<Args>, Args> Clone for Long<A, Args> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: ?Sized + HookPoint<Args>, Args> Copy for Long<A, Args> {}

impl<A: ?Sized + HookPoint<Args>, Args> fmt::Debug for LongWay<A, Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LongWay").finish_non_exhaustive()
    }
}

impl<A: ?Sized + HookPoint<Args>, Args> Rest<A, Args> for Carried {
    const WAY: LongWay<A, Args> = LongWay(Long::Carried);
}

impl<A, Args> Rest<A, Args> for Found
where
    A: ?Sized + AsyncBody<Args>,
    A::Base: Sync,
    A::Return: Sendable,
    Output<A, Args>: Sendable,
    Error<A, Args>: Sendable,
    Args: Sendable + 'static,
{
    const WAY: LongWay<A, Args> = LongWay(Long::Async(|agent, visit, args| {
        let receiver = SharedReceiver(agent);
        Box::pin(drive::<_, A, Args, AsyncAround, _, _>(receiver, visit, args, A::body))
    }));
}

impl<A, Args> Rest<A, Args> for FoundNow
where
    A: ?Sized + AroundPoint<Args, Mode = SyncMethod>,
    Args: 'static,
{
    const WAY: LongWay<A, Args> = LongWay(Long::Sync(|agent, visit, args| {
        drive_now::<_, A, Args, SyncAround>(&SharedReceiver(agent), &visit, args, A::start)
    }));
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> Way<A, Args> {
    pub(crate) const OF: &'static Self = &Self {
        look: look::<A, Args>,
        begin: begin::<A, Args>,
        go_on: go_on::<A, Args>,
        copy: copy::<A, Args>,
        post: post::<A, Args>,
        long: A::Rest::WAY.0,
    };
}

/// Who made the hooks of a call: its own type, or the trait of its method alone.
enum Side<'h, A: ?Sized + HookPoint<Args>, Args: 'static> {
    Own(&'static Way<A, Args>),
    Base(&'static Way<A::Base, Args>, &'h A::Base, Levels<'h, A::Base, Args>),
}

impl<'t, A: ?Sized + HookPoint<Args>, Args: 'static> Levels<'t, A, Args> {
    #[inline]
    fn side<'h>(self, agent: &'h A) -> Option<Side<'h, A, Args>>
    where
        't: 'h,
    {
        let [instance, class] = self.own;
        if let Some(own) = instance.or(class) {
            return Some(Side::Own(own.way));
        }
        let [instance, class] = self.base;
        let (hooks, base) = (instance.or(class)?, agent.as_base()?);
        let levels = Levels { own: self.base, base: [None, None] };
        Some(Side::Base(hooks.way, base, levels))
    }

    /// Looks which hooks there are, and runs the pre hooks if there are none but these and post hooks: for
    /// most calls then only the body is left, and nothing needs to be kept for what comes later.
    #[inline]
    pub(crate) fn look(
        self,
        agent: &A,
        args: &mut Option<Args>,
        nesting: Nesting,
        is_shared: bool,
    ) -> Looked<A::Return> {
        match self.side(agent) {
            Some(Side::Own(way)) => (way.look)(agent, self, args, nesting, is_shared),
            Some(Side::Base(way, base, hooks)) => (way.look)(base, hooks, args, nesting, is_shared),
            None => {
                // Another point shares its bit in the registry.
                guard::leave();
                Looked::Body
            }
        }
    }

    /// Starts the pre hook at a position, which has to be awaited.
    #[inline]
    pub(crate) fn begin<'h>(
        self,
        agent: &'h A,
        at: Position,
        args: &'h mut Args,
    ) -> Begun<'h, A, Args>
    where
        't: 'h,
    {
        match self.side(agent)? {
            Side::Own(way) => (way.begin)(agent, self, at, args),
            Side::Base(way, base, hooks) => (way.begin)(base, hooks, at, args),
        }
    }

    /// Runs the pre hooks behind the one that has been awaited.
    #[inline]
    pub(crate) fn go_on(
        self,
        agent: &A,
        at: Position,
        decided: Decided<A, Args>,
        args: &mut Args,
    ) -> Next<A::Return> {
        match self.side(agent) {
            Some(Side::Own(way)) => (way.go_on)(agent, self, at, decided, args),
            Some(Side::Base(way, base, hooks)) => (way.go_on)(base, hooks, at, decided, args),
            None => Next::Body,
        }
    }

    /// A copy of the arguments, if hooks will see them after the body.
    #[inline]
    pub(crate) fn copy(self, agent: &A, args: &Args) -> Option<Args> {
        match self.side(agent)? {
            Side::Own(way) => (way.copy)(self, args),
            Side::Base(way, _, hooks) => (way.copy)(hooks, args),
        }
    }

    /// Runs post hooks of which none waits.
    #[inline]
    pub(crate) fn post(self, agent: &A, args: Option<&Args>, returned: &mut A::Return) {
        match self.side(agent) {
            Some(Side::Own(way)) => (way.post)(agent, self, args, returned),
            Some(Side::Base(way, base, hooks)) => (way.post)(base, hooks, args, returned),
            None => {}
        }
    }
}

/// Goes the whole way of a call.
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
    match long_way(agent, &visit) {
        Some(Go::Own(Long::Async(go))) => go(agent, visit, args),
        Some(Go::Base(Long::Async(go), base)) => go(base, visit.of_base(), args),
        _ => unreachable!("{CARRIED}"),
    }
}

/// Goes the whole way of a call of a sync method.
#[inline]
pub(crate) fn go_long_now<A, Args>(agent: &A, visit: Visit<'_>, args: Args) -> A::Return
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
{
    match long_way(agent, &visit) {
        Some(Go::Own(Long::Sync(go))) => go(agent, visit, args),
        Some(Go::Base(Long::Sync(go), base)) => go(base, visit.of_base(), args),
        _ => unreachable!("{CARRIED}"),
    }
}

const CARRIED: &str = "a call that has hooks finds its way with them";

enum Go<'a, A: ?Sized + HookPoint<Args>, Args: 'static> {
    Own(Long<A, Args>),
    Base(Long<A::Base, Args>, &'a A::Base),
}

#[inline]
fn long_way<'a, A, Args>(agent: &'a A, visit: &Visit<'_>) -> Option<Go<'a, A, Args>>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
{
    match visit.tables.hooks::<A, Args>(agent).side(agent)? {
        Side::Own(way) => Some(Go::Own(way.long)),
        Side::Base(way, ..) => Some(Go::Base(way.long, agent.as_base()?)),
    }
}

impl Visit<'_> {
    /// The same call, of the trait that the method is of.
    fn of_base(self) -> Self {
        Self { tables: self.tables.of_base(), ..self }
    }
}

const PRE: u8 = bit_of(Phase::Pre);
const POST: u8 = bit_of(Phase::Post);

fn look<A: ?Sized + HookPoint<Args>, Args: 'static>(
    agent: &A,
    hooks: Levels<'_, A, Args>,
    args: &mut Option<Args>,
    nesting: Nesting,
    is_shared: bool,
) -> Looked<A::Return> {
    let masks = hooks.masks();
    if nesting.depth > 0 && A::REENTRY == Reentry::Skip {
        trace::skipped::<A, Args>(|| hooks.skipped());
        if hooks.max_depth().is_none() {
            return Looked::Body;
        }
    }
    let short = if is_shared { PRE | POST } else { PRE };
    let is_short = nesting.depth == 0 && masks.phases & !short == 0 && masks.waits & POST == 0;
    let Some(args) = args.as_mut().filter(|_| is_short && !trace::is_on()) else {
        return Looked::Long(None);
    };
    if masks.phases & PRE != 0 {
        match start(agent, hooks, Position::default(), args) {
            Next::Body => {}
            Next::Waits(at) if masks.is_limited => return Looked::Long(Some(at)),
            Next::Waits(at) => return Looked::Short(at),
            Next::Ended(returned) => return answer(agent, hooks, args, returned),
        }
    }
    if masks.phases & POST != 0 { Looked::Post } else { Looked::Body }
}

/// A pre hook ended the call.
#[cold]
fn answer<A: ?Sized + HookPoint<Args>, Args: 'static>(
    agent: &A,
    hooks: Levels<'_, A, Args>,
    args: &Args,
    mut returned: A::Return,
) -> Looked<A::Return> {
    post(agent, hooks, copy(hooks, args).as_ref(), &mut returned);
    Looked::Answer(Box::new(returned))
}

/// Runs the pre hooks from a position on, up to one that has to be awaited or ends the call.
fn start<A: ?Sized + HookPoint<Args>, Args: 'static>(
    agent: &A,
    hooks: Levels<'_, A, Args>,
    at: Position,
    args: &mut Args,
) -> Next<A::Return> {
    match engine::start::<Pre<A, Args>, Pre<A::Base, Args>>(hooks, agent, at, &(), args) {
        Progress::Done => Next::Body,
        Progress::Waits(at) => Next::Waits(at),
        Progress::Ended(end) => Next::Ended(A::Kind::join(end)),
    }
}

fn begin<'h, A: ?Sized + HookPoint<Args>, Args: 'static>(
    agent: &'h A,
    hooks: Levels<'h, A, Args>,
    at: Position,
    args: &'h mut Args,
) -> Begun<'h, A, Args> {
    engine::begin::<Pre<A, Args>, Pre<A::Base, Args>>(hooks, agent, at, &(), args)
}

fn go_on<A: ?Sized + HookPoint<Args>, Args: 'static>(
    agent: &A,
    hooks: Levels<'_, A, Args>,
    at: Position,
    decided: Decided<A, Args>,
    args: &mut Args,
) -> Next<A::Return> {
    if let Some(decided) = decided
        && let Some(end) =
            engine::apply_at::<Pre<A, Args>, Pre<A::Base, Args>>(hooks, agent, at, decided, args)
    {
        return Next::Ended(A::Kind::join(end));
    }
    start(agent, hooks, at.next(), args)
}

fn copy<A: ?Sized + HookPoint<Args>, Args: 'static>(
    hooks: Levels<'_, A, Args>,
    args: &Args,
) -> Option<Args> {
    hooks.keep_args().map(|keep_args| keep_args(args))
}

fn post<A: ?Sized + HookPoint<Args>, Args: 'static>(
    agent: &A,
    hooks: Levels<'_, A, Args>,
    args: Option<&Args>,
    returned: &mut A::Return,
) {
    let Some(output) = A::Kind::output_mut(returned) else { return };
    let Some(args) = args else { return };
    let at = Position::default();
    match engine::start::<Post<A, Args>, Post<A::Base, Args>>(hooks, agent, at, args, output) {
        Progress::Ended(Err(error)) => *returned = A::Kind::join(Err(error)),
        Progress::Ended(Ok(never)) => match never {},
        Progress::Done | Progress::Waits(_) => {}
    }
}
