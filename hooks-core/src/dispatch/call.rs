//! A call under way: its hooks, its arguments, and what it comes to.

use std::any::TypeId;
use std::mem;
use std::time::Instant;

use crate::dispatch::around::MAX_AROUND_HOOKS;
use crate::dispatch::engine;
use crate::dispatch::point_hooks::bit_of;
use crate::dispatch::receiver::Receiver;
use crate::dispatch::snapshot::Levels;
use crate::dispatch::stack::guard::{self, Nesting};
use crate::dispatch::way::Visit;
use crate::error::HookError;
use crate::hook_type::Phase;
use crate::outcome::Outcome;
use crate::point::call_mode::Position;
use crate::point::hook_point::{HookPoint, MAX_DEPTH, Reentry};
use crate::point::hook_slot::{Around, OnError, Post, Pre};
use crate::point::return_kind::ReturnKind;
use crate::registry::hooks::HasHooks;
use crate::registry::list::ORDERED;

/// A call that has hooks to run besides sync pre hooks.
pub(super) struct Call<'c, R, A, Args>
where
    R: Receiver<Agent = A>,
    A: ?Sized + HasHooks + HookPoint<Args>,
    Args: 'static,
{
    pub(super) receiver: &'c R,
    pub(super) hooks: Levels<'c, A, Args>,
    /// The id of the instance, which the body of a `&mut self` method may exchange.
    pub(super) instance: u64,
    /// The method, for the guard.
    pub(super) point: TypeId,
    nesting: Nesting,
    /// A bit for each phase that has hooks which may run.
    phases: u8,
    /// Whether pre hooks have run, up to one that has to be awaited.
    is_started: bool,
    /// The hook that has to be awaited next.
    waits: Option<Position>,
    /// Those that the body will be given; then the copy that hooks see.
    pub(super) args: &'c mut Option<Args>,
    /// What the call returns, if it does not come to the body.
    answer: &'c mut Option<A::Return>,
    /// When the call started; `None` if no settled hook will ask, or none is left to run.
    pub(super) started: Option<Instant>,
}

impl<'c, R, A, Args> Call<'c, R, A, Args>
where
    R: Receiver<Agent = A>,
    A: ?Sized + HasHooks + HookPoint<Args>,
    Args: 'static,
{
    /// A call with the hooks that it found.
    #[inline]
    pub(super) fn new(
        receiver: &'c R,
        visit: &'c Visit<'_>,
        args: &'c mut Option<Args>,
        answer: &'c mut Option<A::Return>,
    ) -> Self {
        let hooks = visit.tables.hooks::<A, Args>(&receiver.borrow());
        let phases = hooks.masks().phases;
        let started = (phases & bit_of(Phase::Settled) != 0).then(Instant::now);
        Self {
            receiver,
            hooks,
            instance: visit.instance,
            point: visit.point,
            nesting: visit.nesting,
            phases,
            is_started: visit.from.is_some(),
            waits: visit.from,
            args,
            answer,
            started,
        }
    }

    /// Of a nested call only the hooks that are never skipped run.
    #[inline]
    pub(super) fn is_nested(&self) -> bool {
        self.nesting.depth > 0 && A::REENTRY == Reentry::Skip
    }

    /// Says whether the call may run, and from where on its pre hooks do.
    #[inline]
    pub(super) fn start(&mut self) {
        if self.is_started {
            return;
        }
        if self.started.is_some() {
            guard::set_address(self.address());
        }
        match self.refusal(self.nesting) {
            Some(refusal) => self.refuse(refusal, self.nesting),
            None => self.waits = self.has(Phase::Pre).then(Position::default),
        }
    }

    /// Tells the call from all others that there are.
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(&*self.args).addr()
    }

    /// Why the call may not run, if it may not.
    #[inline]
    fn refusal(&self, nesting: Nesting) -> Option<HookError> {
        let depth = match A::REENTRY {
            _ if nesting.depth == 0 => return self.refusal_by_hooks(),
            Reentry::Deny => return Some(HookError::Reentered { method: A::METHOD.to_owned() }),
            Reentry::Run | Reentry::Skip => self.hooks.max_depth().unwrap_or(MAX_DEPTH),
        };
        if nesting.depth < depth {
            return self.refusal_by_hooks();
        }
        Some(HookError::TooDeep { method: A::METHOD.to_owned(), depth })
    }

    /// Why its hooks may not run as they are, if they may not.
    #[inline]
    fn refusal_by_hooks(&self) -> Option<HookError> {
        if self.phases & ORDERED != 0
            && let Some((hook_type, fault)) = self.hooks.order_fault()
        {
            return Some(HookError::Misordered { hook_type, fault });
        }
        self.too_many_around_hooks()
    }

    fn too_many_around_hooks(&self) -> Option<HookError> {
        if !self.has(Phase::Around) {
            return None;
        }
        let agent = self.receiver.borrow();
        let count = self
            .hooks
            .links::<Around<A, Args>, Around<A::Base, Args>>(&agent, Position::default())
            .filter(|(_, link)| !link.is_skipped(self.is_nested()))
            .count();
        (count > MAX_AROUND_HOOKS).then(|| HookError::TooManyAroundHooks {
            method: A::METHOD.to_owned(),
            count,
            limit: MAX_AROUND_HOOKS,
        })
    }

    /// The call fails. Of its hooks only error and settled hooks run, and not if such hooks made the
    /// call: they would make it again.
    #[cold]
    fn refuse(&mut self, refusal: HookError, nesting: Nesting) {
        let allowed = [Phase::Error, Phase::Settled].into_iter();
        let allowed = allowed.filter(|phase| !nesting.is_made_by(*phase));
        self.phases &= allowed.fold(0, |mask, phase| mask | bit_of(phase));
        self.started = self.started.filter(|_| self.has(Phase::Settled));
        // Where the method cannot fail, a panic says the same.
        let error = A::Kind::raise(refusal).unwrap_or_else(|refusal| panic!("{refusal}"));
        *self.answer = Some(A::Kind::join(Err(error)));
    }

    /// Runs the pre hooks of a sync method from a position on.
    #[cold]
    pub(super) fn run_pre_now(&mut self, at: Position) {
        let ended = engine::resume_now::<Pre<A, Args>, Pre<A::Base, Args>>(
            self.hooks,
            self.receiver.borrow(),
            at,
            self.is_nested(),
            &(),
            self.args.as_mut().expect(BEFORE),
        );
        *self.answer = ended.map(A::Kind::join);
    }

    /// Runs the post hooks of a sync method.
    #[cold]
    pub(super) fn run_post_now(&mut self, returned: &mut A::Return) {
        let Some(output) = A::Kind::output_mut(returned) else { return };
        let ended = engine::resume_now::<Post<A, Args>, Post<A::Base, Args>>(
            self.hooks,
            self.receiver.borrow(),
            Position::default(),
            self.is_nested(),
            self.args.as_ref().expect(AFTER),
            output,
        );
        if let Some(Err(error)) = ended {
            *returned = A::Kind::join(Err(error));
        }
    }

    /// Runs the error hooks of a sync method.
    #[cold]
    pub(super) fn run_error_now(&mut self, returned: &mut A::Return) {
        let Some(error) = A::Kind::error_mut(returned) else { return };
        let _marked = guard::Marked::new(Phase::Error);
        let ended = engine::resume_now::<OnError<A, Args>, OnError<A::Base, Args>>(
            self.hooks,
            self.receiver.borrow(),
            Position::default(),
            self.is_nested(),
            self.args.as_ref().expect(AFTER),
            error,
        );
        if let Some(end) = ended {
            *returned = A::Kind::join(end);
        }
    }

    /// The hook that has to be awaited before the call goes on, if there is one.
    #[inline]
    pub(super) fn waits(&mut self) -> Option<Position> {
        self.waits.take()
    }

    /// Runs the pre hooks from a position on.
    pub(super) async fn run_pre(&mut self, at: Position) {
        let mut nothing = ();
        let ended = engine::resume::<Pre<A, Args>, Pre<A::Base, Args>>(
            self.hooks,
            self.receiver.borrow(),
            at,
            self.is_nested(),
            &mut nothing,
            self.args.as_mut().expect(BEFORE),
        );
        *self.answer = ended.await.map(A::Kind::join);
    }

    /// What the call returns in place of what the body would.
    #[inline]
    pub(super) fn answer(&mut self) -> Option<A::Return> {
        self.answer.take()
    }

    /// Whether hooks of the phase may run.
    #[inline]
    pub(super) fn has(&self, phase: Phase) -> bool {
        self.phases & bit_of(phase) != 0
    }

    /// The arguments for the body. Hooks that will want to see them afterwards get a copy.
    #[inline]
    pub(super) fn take_args(&mut self) -> Args {
        // Only they see the arguments after the body.
        let sees_args = [Phase::Post, Phase::Error, Phase::Settled];
        let keep_args = sees_args.iter().any(|phase| self.has(*phase));
        let copy = self.args.as_ref().filter(|_| keep_args).and_then(|args| self.hooks.copy(args));
        mem::replace(self.args, copy).expect(BEFORE)
    }

    /// Runs the post hooks.
    pub(super) async fn run_post(&mut self, returned: &mut A::Return) {
        let Some(output) = A::Kind::output_mut(returned) else { return };
        let ended = engine::resume::<Post<A, Args>, Post<A::Base, Args>>(
            self.hooks,
            self.receiver.borrow(),
            Position::default(),
            self.is_nested(),
            self.args.as_mut().expect(AFTER),
            output,
        );
        if let Some(Err(error)) = ended.await {
            *returned = A::Kind::join(Err(error));
        }
    }

    /// Whether the call has failed and error hooks will see it.
    #[inline]
    pub(super) fn needs_error_hooks(&self, returned: &A::Return) -> bool {
        self.has(Phase::Error) && matches!(A::Kind::outcome(returned), Outcome::Err(_))
    }

    /// Runs the error hooks.
    pub(super) async fn run_error(&mut self, returned: &mut A::Return) {
        let Some(error) = A::Kind::error_mut(returned) else { return };
        let ended = engine::resume::<OnError<A, Args>, OnError<A::Base, Args>>(
            self.hooks,
            self.receiver.borrow(),
            Position::default(),
            self.is_nested(),
            self.args.as_mut().expect(AFTER),
            error,
        );
        if let Some(end) = guard::marked(Phase::Error, ended).await {
            *returned = A::Kind::join(end);
        }
    }
}

pub(super) const BEFORE: &str = "the body does not have the arguments yet";
const AFTER: &str = "the arguments were copied for the hooks after the body";
