//! Policies for failures, conditions and time limits of hooks, and the hook types that take each.

use std::sync::Arc;

use crate::hook::entry::{Predicate, Undo};
use crate::point::call_mode::AsyncMethod;
use crate::point::hook_point::HookPoint;
use crate::point::hook_slot::{Around, HookSlot, OnError, Post, Pre};
use crate::point::return_kind::FallibleMethod;

/// A failure of the hook fails the call. A panic unwinds. The default.
#[derive(Clone, Copy, Debug)]
pub struct Fail;

/// A failure of the hook, a panic too, is reported through `tracing` and otherwise ignored: what
/// the hook was given to change is as it was before.
#[derive(Clone, Copy, Debug)]
pub struct Ignore;

/// The hook runs in every call. The default.
#[derive(Clone, Copy, Debug)]
pub struct Unconditional;

/// The hook may take its time. The default.
#[derive(Clone, Copy, Debug)]
pub struct Unlimited;

/// The hook has a timeout.
#[derive(Clone, Copy, Debug)]
pub struct Timed;

/// What may happen when a hook fails: [`Fail`] or [`Ignore`]. Implemented here only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what happens when a hook fails",
    label = "expected `Fail` or `Ignore`"
)]
pub trait FailurePolicy: sealed::Sealed {}

impl FailurePolicy for Fail {}
impl FailurePolicy for Ignore {}

/// What happens when a hook of the type `P` fails. Implemented here only.
#[diagnostic::on_unimplemented(
    message = "a failure cannot be handled by `{Self}` at `{P}`",
    note = "`Ignore` puts back what the hook changed, so that must be `Clone`; around and settled \
            hooks have nothing to put back"
)]
pub trait OnFailure<P: HookSlot>: FailurePolicy {
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

impl<P: HookSlot> When<P> for Unconditional {
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
pub trait Limit<P: HookSlot, F>: sealed::Sealed {}

impl<P: HookSlot, F> Limit<P, F> for Unlimited {}

#[diagnostic::do_not_recommend]
impl<A, Args> Limit<Pre<A, Args>, Fail> for Timed
where
    A: ?Sized + HookPoint<Args, Mode = AsyncMethod, Kind = FallibleMethod>,
    Args: 'static,
{
}

#[diagnostic::do_not_recommend]
impl<A, Args> Limit<Pre<A, Args>, Ignore> for Timed
where
    A: ?Sized + HookPoint<Args, Mode = AsyncMethod>,
    Args: 'static,
{
}

#[diagnostic::do_not_recommend]
impl<A, Args> Limit<Post<A, Args>, Fail> for Timed
where
    A: ?Sized + HookPoint<Args, Mode = AsyncMethod, Kind = FallibleMethod>,
    Args: 'static,
{
}

#[diagnostic::do_not_recommend]
impl<A, Args> Limit<Post<A, Args>, Ignore> for Timed
where
    A: ?Sized + HookPoint<Args, Mode = AsyncMethod>,
    Args: 'static,
{
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Fail {}
    impl Sealed for super::Ignore {}
    impl Sealed for super::Unlimited {}
    impl Sealed for super::Timed {}
}
