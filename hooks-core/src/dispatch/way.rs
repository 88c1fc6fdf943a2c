//! Runs the hooks of a call, by functions that are made where hooks are registered: a method that nobody
//! hooks carries none of them.

use std::any::TypeId;

use crate::dispatch::around::{AroundCall, AsyncAround, MAX_AROUND_HOOKS, SyncAround};
use crate::dispatch::drive::{drive, drive_now, fail};
use crate::dispatch::engine::{self, Progress};
use crate::dispatch::point_hooks::bit_of;
use crate::dispatch::receiver::SharedReceiver;
use crate::dispatch::report::trace;
use crate::dispatch::snapshot::{Levels, Tables};
use crate::dispatch::stack::guard::Nesting;
use crate::hook_type::Phase;
use crate::point::call_mode::{BoxFuture, Position, RestOfCall, SyncMethod};
use crate::point::hook_point::{AroundPoint, AsyncBody, Error, HookPoint, Output};
use crate::point::hook_slot::{Post, Pre};
use crate::point::rest::{Choices, Rest};
use crate::point::return_kind::ReturnKind;

/// The ways of the calls of one method.
#[expect(clippy::type_complexity, reason = "functions of what a call is")]
pub(crate) struct Way<A: ?Sized + HookPoint<Args>, Args: 'static> {
    pub(super) look: fn(
        &A,
        &Levels<'_, A, Args>,
        &mut Option<Args>,
        &mut Option<Args>,
        Nesting,
        u8,
    ) -> Looked<A::Return>,
    pub(super) post: fn(&A, &Levels<'_, A, Args>, Option<&Args>, &mut A::Return),
    pub(super) rest: RestOfWay<A, Args>,
}

/// What a call does that needs more than its body and simple hooks.
#[expect(clippy::type_complexity, reason = "functions of what a call is")]
pub(crate) struct RestOfWay<A: ?Sized + HookPoint<Args>, Args: 'static> {
    pub(super) drive: for<'a> fn(&'a A, Visit<'a>, Args) -> BoxFuture<'a, A::Return>,
    pub(super) drive_now: fn(&A, &Visit<'_>, Args) -> A::Return,
    pub(super) fail: for<'a> fn(&'a A, Visit<'a>, Args, A::Return) -> BoxFuture<'a, A::Return>,
    pub(super) around: for<'a> fn(&'a AroundCall<'a, A, Args>, Args) -> BoxFuture<'a, A::Return>,
    pub(super) around_now: fn(&AroundCall<'_, A, Args>, Args) -> A::Return,
}

pub(super) type WayOf<'w, A, Args> = &'w Way<A, Args>;

/// What is left of a call that has been looked at.
pub(crate) enum Looked<R> {
    /// Its body.
    Body,
    /// Nothing: a hook gave this.
    Answer(Box<R>),
    /// Error hooks, which see this error of a hook.
    Failed(Box<R>),
    /// Its body, sync post hooks, and error hooks if it fails.
    Post,
    /// Pre hooks from the one on that has to be awaited, if there is one, around hooks, and then the same; a bit
    /// for each phase that has hooks.
    Short(Option<Position>, u8),
    /// All that may be, but the pre hooks before this one, if they have run.
    Long(Option<Position>),
}

/// What is left of a call that has more than its body and sync hooks.
pub(crate) enum Ahead<R> {
    /// What [`Looked::Short`] has.
    Short(u8),
    /// What [`Looked::Long`] has.
    Long,
    /// Error hooks, which see this error.
    Failed(Box<R>),
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

impl<A: ?Sized + HookPoint<Args>, Args: 'static> Way<A, Args> {
    /// The functions of one method.
    pub(crate) fn new() -> Self {
        Self { look: look::<A, Args>, post: post::<A, Args>, rest: A::Rest::choose() }
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> RestOfWay<A, Args> {
    /// No function: the call carries what it does.
    const CARRIED: Self = Self {
        drive: |_, _, _| unreachable!("{ELSEWHERE}"),
        drive_now: |_, _, _| unreachable!("{ELSEWHERE}"),
        fail: |_, _, _, _| unreachable!("{ELSEWHERE}"),
        around: |_, _| unreachable!("{ELSEWHERE}"),
        around_now: |_, _| unreachable!("{ELSEWHERE}"),
    };
}

const ELSEWHERE: &str = "the rest of such a call is elsewhere";

impl<A: ?Sized + HookPoint<Args>, Args: 'static> Choices<A, Args> for RestOfWay<A, Args> {
    fn carried() -> Self {
        Self::CARRIED
    }

    fn found() -> Self
    where
        A: AsyncBody<Args, Base: Sync, Return: Send>,
        Output<A, Args>: Send,
        Error<A, Args>: Send,
        Args: Send,
    {
        Self {
            drive: |agent, visit, args| {
                let receiver = SharedReceiver(agent);
                Box::pin(drive::<_, A, Args, AsyncAround, _, _>(receiver, visit, args, A::body))
            },
            around: |call, args| RestOfCall::start(call, call, Position::default(), args),
            fail: |agent, visit, args, returned| {
                Box::pin(fail(SharedReceiver(agent), visit, args, returned))
            },
            ..Self::CARRIED
        }
    }

    fn found_now() -> Self
    where
        A: AroundPoint<Args, Mode = SyncMethod>,
    {
        Self {
            drive_now: |agent, visit, args| {
                drive_now::<_, A, Args, SyncAround>(&SharedReceiver(agent), visit, args, A::start)
            },
            around_now: |call, args| RestOfCall::start(call, call, Position::default(), args),
            ..Self::CARRIED
        }
    }
}

const PRE: u8 = bit_of(Phase::Pre);
pub(super) const AROUND: u8 = bit_of(Phase::Around);
pub(super) const POST: u8 = bit_of(Phase::Post);
pub(super) const ERROR: u8 = bit_of(Phase::Error);

/// The phases of calls that need not go the long way: of those that have all of it, of those that share
/// their instance, and of others.
pub(super) const SHORT: u8 = SHARED | ERROR;
pub(super) const SHARED: u8 = ALONE | AROUND | POST;
pub(super) const ALONE: u8 = PRE;

fn look<A: ?Sized + HookPoint<Args>, Args: 'static>(
    agent: &A,
    hooks: &Levels<'_, A, Args>,
    args: &mut Option<Args>,
    copy: &mut Option<Args>,
    nesting: Nesting,
    short: u8,
) -> Looked<A::Return> {
    let masks = hooks.masks();
    let is_short = nesting.depth == 0
        && masks.phases & !short == 0
        && masks.waits & POST == 0
        && masks.arounds <= MAX_AROUND_HOOKS;
    let Some(args) = args.as_mut().filter(|_| is_short && !trace::is_on()) else {
        return Looked::Long(None);
    };
    let at = if masks.phases & PRE == 0 {
        None
    } else {
        match start(agent, *hooks, Position::default(), args) {
            Progress::Done => None,
            Progress::Waits(at) if masks.is_limited => return Looked::Long(Some(at)),
            Progress::Waits(at) => Some(at),
            Progress::Ended(end) => return answer(agent, hooks, args, A::Kind::join(end)),
        }
    };
    if at.is_some() || masks.phases & AROUND != 0 {
        // Where error hooks are rare, what waits has no room for them.
        return match masks.phases & ERROR {
            0 => Looked::Short(at, masks.phases),
            _ => Looked::Long(at.or(Some(Position::END))),
        };
    }
    if masks.phases & (POST | ERROR) == 0 {
        return Looked::Body;
    }
    *copy = hooks.copy(args);
    Looked::Post
}

/// A pre hook ended the call.
#[cold]
fn answer<A: ?Sized + HookPoint<Args>, Args: 'static>(
    agent: &A,
    hooks: &Levels<'_, A, Args>,
    args: &Args,
    mut returned: A::Return,
) -> Looked<A::Return> {
    post(agent, hooks, hooks.copy(args).as_ref(), &mut returned);
    let (failed, returned) = (hooks.handle(&returned), Box::new(returned));
    if failed { Looked::Failed(returned) } else { Looked::Answer(returned) }
}

/// Runs the pre hooks from a position on, up to one that has to be awaited or ends the call.
#[inline]
fn start<A: ?Sized + HookPoint<Args>, Args: 'static>(
    agent: &A,
    hooks: Levels<'_, A, Args>,
    at: Position,
    args: &mut Args,
) -> Progress<Output<A, Args>, Error<A, Args>> {
    engine::start::<Pre<A, Args>, Pre<A::Base, Args>>(hooks, agent, at, &(), args)
}

fn post<A: ?Sized + HookPoint<Args>, Args: 'static>(
    agent: &A,
    hooks: &Levels<'_, A, Args>,
    args: Option<&Args>,
    returned: &mut A::Return,
) {
    let Some(output) = A::Kind::output_mut(returned) else { return };
    let Some(args) = args else { return };
    let at = Position::default();
    match engine::start::<Post<A, Args>, Post<A::Base, Args>>(*hooks, agent, at, args, output) {
        Progress::Ended(Err(error)) => *returned = A::Kind::join(Err(error)),
        Progress::Ended(Ok(never)) => match never {},
        Progress::Done => {}
        Progress::Waits(_) => unreachable!("post hooks that wait are run elsewhere"),
    }
}
