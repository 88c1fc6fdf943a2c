//! The end of a call: its settled hooks run once, whatever happens.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::entry::Entry;
use crate::failure::report;
use crate::guard::{self, Frame};
use crate::hook_type::Phase;
use crate::hookable::HasHooks;
use crate::lend::Lender;
use crate::limit::message_of;
use crate::outcome::Outcome;
use crate::place::Place;
use crate::point::{Error, HookPoint, Output, ReturnKind};
use crate::slot::OnSettled;
use crate::snapshot::{Link, Snapshot, has_hooks};
use crate::trace::Watch;

/// Tells the settled hooks how a call ended, once, whatever happens.
pub(crate) struct Settle<'s, L, A, Args>
where
    L: Lender<Agent = A>,
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    pub(crate) lender: &'s L,
    pub(crate) args: PhantomData<fn(Args)>,
}

impl<L, A, Args> Settle<'_, L, A, Args>
where
    L: Lender<Agent = A>,
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    /// The call came to its end.
    #[inline]
    pub(crate) fn with(self, returned: &A::Return) {
        // From here on it is settled, whatever a hook does.
        ManuallyDrop::new(self).run(&A::Kind::outcome(returned));
    }

    fn run(&self, outcome: &Outcome<'_, Output<A, Args>, Error<A, Args>>) {
        let agent = self.lender.lend();
        if !has_hooks::<A, Args>(&*agent, Phase::Settled) {
            return;
        }
        let hooks = Snapshot::<A, Args>::take(&*agent, Phase::Settled);
        let place = |level| Place { level, hooks: agent.hooks() };
        for link in hooks.links::<A, Args, OnSettled<A, Args>, OnSettled<A::Base, Args>>() {
            match (link, agent.as_base()) {
                (Link::Own(level, entry), _) => run_settled(&*agent, outcome, place(level), entry),
                (Link::Base(level, entry), Some(base)) => {
                    run_settled(base, outcome, place(level), entry);
                }
                (Link::Base(..), None) => {}
            }
        }
    }
}

/// Runs a settled hook.
fn run_settled<A, Args>(
    agent: &A,
    outcome: &Outcome<'_, Output<A, Args>, Error<A, Args>>,
    place: Place<'_>,
    entry: &Entry<OnSettled<A, Args>>,
) where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
{
    if entry.limits.as_ref().is_some_and(|limits| !limits.fire()) {
        return;
    }
    place.remove_spent::<A, Args, _>(entry);
    let run = || (entry.hook.run)(agent, outcome);
    let watch = Watch::start();
    // A panic here would take the place of the outcome, or end the program.
    let ran = catch_unwind(AssertUnwindSafe(run));
    let outcome = if ran.is_ok() { "ran" } else { "panicked" };
    watch.stop::<A, Args, _>(place.level, entry, outcome);
    if let Err(panic) = ran {
        report::<A, Args, _>(place.level, entry, &message_of(&*panic));
    }
}

impl<L, A, Args> Drop for Settle<'_, L, A, Args>
where
    L: Lender<Agent = A>,
    A: HasHooks + HookPoint<Args>,
    Args: 'static,
{
    fn drop(&mut self) {
        // A panic of this call unwinds while it is being polled; a drop comes from outside.
        let frame = Frame::of::<Args>(self.lender.lend().hooks());
        let panicked = std::thread::panicking() && guard::depth(frame) > 0;
        // A drop comes from outside of the call, but its hooks belong to it.
        let _entered = guard::enter(frame);
        self.run(&if panicked { Outcome::Panicked } else { Outcome::Cancelled });
    }
}
