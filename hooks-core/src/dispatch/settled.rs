//! The end of a call: its settled hooks run once, however it ends.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use crate::dispatch::call::Call;
use crate::dispatch::limits::message_of;
use crate::dispatch::receiver::Receiver;
use crate::dispatch::report::failure::report;
use crate::dispatch::report::trace::Watch;
use crate::dispatch::snapshot::with_link;
use crate::dispatch::stack::guard;
use crate::hook::entry::Entry;
use crate::hook::settled::Settled;
use crate::hook_type::{Level, Phase};
use crate::outcome::Outcome;
use crate::point::call_mode::Position;
use crate::point::hook_point::{Error, HookPoint, Output};
use crate::point::hook_slot::OnSettled;
use crate::point::return_kind::ReturnKind;
use crate::registry::hooks::{HasHooks, Hooks};

impl<R, A, Args> Call<'_, R, A, Args>
where
    R: Receiver<Agent = A>,
    A: ?Sized + HasHooks + HookPoint<Args>,
    Args: 'static,
{
    /// The call came to its end.
    #[inline]
    pub(super) fn settle(&mut self, returned: &A::Return) {
        // From here on it is settled, whatever a hook does.
        if let Some(started) = self.started.take() {
            self.run_settled(started.elapsed(), &A::Kind::outcome(returned));
        }
    }

    fn run_settled(
        &self,
        elapsed: Duration,
        outcome: &Outcome<'_, Output<A, Args>, Error<A, Args>>,
    ) {
        guard::mark(Phase::Settled);
        let agent = self.receiver.borrow();
        let (hooks, args) = (agent.hooks(), self.args.as_ref());
        let start = Position::default();
        let links = self.hooks.links::<OnSettled<A, Args>, OnSettled<A::Base, Args>>(&agent, start);
        for (_, link) in links {
            if !link.is_skipped(self.is_nested()) {
                with_link!(link, |level, agent, entry| {
                    run_hook(level, hooks, entry, |hook| hook(agent, args, outcome, elapsed));
                });
            }
        }
    }
}

/// Runs a settled hook; one that runs once is taken out.
fn run_hook<A: ?Sized + HookPoint<Args>, Args: 'static>(
    level: Level,
    hooks: &Hooks,
    entry: &Entry<OnSettled<A, Args>>,
    run: impl FnOnce(&Settled<A, Args>),
) {
    if !entry.registration.fire() {
        return;
    }
    entry.registration.remove_if_spent(level, hooks);
    let watch = Watch::start();
    // A panic here would take the place of the outcome, or end the program.
    let ran = catch_unwind(AssertUnwindSafe(|| run(&*entry.hook.run)));
    watch.stop(level, entry, if ran.is_ok() { "ran" } else { "panicked" });
    if let Err(panic) = ran {
        report(level, entry, &message_of(panic));
    }
}

impl<R, A, Args> Drop for Call<'_, R, A, Args>
where
    R: Receiver<Agent = A>,
    A: ?Sized + HasHooks + HookPoint<Args>,
    Args: 'static,
{
    fn drop(&mut self) {
        let Some(started) = self.started.take() else { return };
        if thread::panicking() && guard::is_polled(self.address()) {
            self.run_settled(started.elapsed(), &Outcome::Panicked);
        } else {
            // A drop comes from outside of the call, but its hooks belong to it.
            guard::reenter(self.instance, self.point, || {
                self.run_settled(started.elapsed(), &Outcome::Cancelled);
            });
        }
    }
}
