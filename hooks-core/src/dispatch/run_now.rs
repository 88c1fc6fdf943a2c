//! The way into a call of a sync method.

use std::any::TypeId;

use tracing::Span;

use crate::dispatch::around::NoAround;
use crate::dispatch::call::BEFORE;
use crate::dispatch::drive::drive_now;
use crate::dispatch::receiver::{Finder, SharedReceiver};
use crate::dispatch::report::trace;
use crate::dispatch::stack::guard::Polled;
use crate::dispatch::steps::{go_long_now, go_short_now};
use crate::dispatch::way::{ALONE, Looked, SHARED, Visit};
use crate::point::call_mode::SyncMethod;
use crate::point::hook_point::{AroundPoint, HookPoint};
use crate::point::hook_slot::Pre;
use crate::registry::hooks::HasHooks;

/// Runs a call of a sync method with `&self`.
pub fn run_sync<A, Args>(agent: &A, args: Args) -> A::Return
where
    A: ?Sized + AroundPoint<Args, Mode = SyncMethod>,
    Args: 'static,
{
    run_now(&SharedReceiver(agent), args, A::start, |visit, args, _, is_short| {
        if is_short { go_short_now(agent, &visit, args) } else { go_long_now(agent, visit, args) }
    })
}

/// Runs a call of a sync method which takes `&mut self`: it has no around hooks.
#[expect(clippy::needless_pass_by_value, reason = "the expansion makes it for the call")]
pub fn run_sync_alone<'h, R, A, Args, Body>(agent: R, args: Args, body: Body) -> A::Return
where
    R: Finder<'h, Agent = A>,
    A: ?Sized + HasHooks + HookPoint<Args, Mode = SyncMethod>,
    Args: 'static,
    Body: FnOnce(R::Borrowed, Args) -> A::Return,
{
    run_now(&agent, args, body, |visit, args, body, _| {
        drive_now::<R, A, Args, NoAround>(&agent, &visit, args, body)
    })
}

/// Runs a call in which nothing waits.
#[inline]
fn run_now<'h, R, A, Args, Body>(
    receiver: &R,
    args: Args,
    body: Body,
    drive: impl FnOnce(Visit<'h>, Args, Body, bool) -> A::Return,
) -> A::Return
where
    R: Finder<'h, Agent = A>,
    A: ?Sized + HasHooks + HookPoint<Args, Mode = SyncMethod>,
    Args: 'static,
    Body: FnOnce(R::Borrowed, Args) -> A::Return,
{
    // Error hooks of sync methods are rare: they go the long way.
    let short = if R::IS_SHARED { SHARED } else { ALONE };
    let instance = receiver.borrow().hooks().id();
    let point = TypeId::of::<Pre<A, Args>>();
    let mut polled = Polled::once();
    let nesting = polled.enter(instance, point);
    let span = trace::span::<A, Args>();
    let _entered = span.as_deref().map(Span::enter);
    let mut args = Some(args);
    let tables = receiver.tables::<Args>();
    let (hooks, mut copy, looked);
    {
        let agent = receiver.borrow();
        hooks = tables.hooks::<A, Args>(&agent);
        copy = None;
        looked = hooks.look(&agent, &mut args, &mut copy, nesting, short);
    }
    let args = args.take();
    let (from, is_short) = match looked {
        Looked::Answer(answer) | Looked::Failed(answer) => return *answer,
        Looked::Body => {
            drop(tables);
            return body(receiver.borrow(), args.expect(BEFORE));
        }
        Looked::Post => {
            let mut returned = body(receiver.borrow(), args.expect(BEFORE));
            hooks.post(&receiver.borrow(), copy.as_ref(), &mut returned);
            return returned;
        }
        // None of its hooks waits.
        Looked::Short(at, _) => (at, at.is_none()),
        Looked::Long(at) => (at, false),
    };
    let visit = Visit { instance, point, nesting, tables, from };
    drive(visit, args.expect(BEFORE), body, is_short)
}
