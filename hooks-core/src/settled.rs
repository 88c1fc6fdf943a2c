//! Settled hooks: they look at the end of a call, however it came.

use std::fmt;
use std::sync::Arc;

use crate::form::{Erased, IntoHook, SyncLook};
use crate::hook_type::Phase;
use crate::mode::Mode;
use crate::outcome::Outcome;
use crate::point::{Error, HookPoint, Output};
use crate::slot::{HookSlot, NoUndo, OnSettled};

/// A settled hook in its erased form.
#[doc(hidden)]
pub struct ErasedSettled<A: ?Sized + HookPoint<Args>, Args> {
    pub(crate) run: Arc<Settled<A, Args>>,
}

type Settled<A, Args> = dyn Fn(&A, &Outcome<'_, Output<A, Args>, Error<A, Args>>) + Send + Sync;

impl<A: ?Sized + HookPoint<Args>, Args> Clone for ErasedSettled<A, Args> {
    fn clone(&self) -> Self {
        Self { run: self.run.clone() }
    }
}

impl<A: ?Sized + HookPoint<Args>, Args> fmt::Debug for ErasedSettled<A, Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErasedSettled").finish_non_exhaustive()
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> HookSlot for OnSettled<A, Args> {
    type Agent = A;
    type Args = Args;
    type Subject = NoUndo;
    type AsyncHooks = <A::Mode as Mode>::AsyncHooks;
    type Hook = ErasedSettled<A, Args>;
    const PHASE: Phase = Phase::Settled;
}

#[diagnostic::do_not_recommend]
impl<A: ?Sized + HookPoint<Args>, Args: 'static> IntoHook<OnSettled<A, Args>, Erased>
    for ErasedSettled<A, Args>
{
    fn into_hook(self) -> ErasedSettled<A, Args> {
        self
    }
}

impl<A, Args, F> IntoHook<OnSettled<A, Args>, SyncLook<()>> for F
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    F: Fn(&A, &Outcome<'_, Output<A, Args>, Error<A, Args>>) + Send + Sync + 'static,
{
    fn into_hook(self) -> ErasedSettled<A, Args> {
        ErasedSettled { run: Arc::new(self) }
    }
}
