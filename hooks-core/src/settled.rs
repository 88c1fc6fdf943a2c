//! Settled hooks: they look at the end of a call, however it came.

use std::fmt;
use std::sync::Arc;

use crate::form::{IntoHook, SyncLook};
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

/// A form of a settled hook; the parameters are there to be named in messages.
#[diagnostic::on_unimplemented(
    message = "this is not a settled hook of `{A}`",
    label = "its parameters, what it returns or `Send` do not fit: see the note",
    note = "it is `|agent: &{A}, outcome: &Outcome<'_, {Output}, {Error}>|`, with the types written out, is \
            sync, and returns nothing"
)]
#[doc(hidden)]
pub trait SettledForm<H, A: ?Sized + HookPoint<Args>, Args, Output, Error, Form> {
    fn erase(hook: H) -> ErasedSettled<A, Args>;
}

impl<A, Args, H, Form> IntoHook<OnSettled<A, Args>, Form> for H
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    OnSettled<A, Args>: SettledForm<H, A, Args, Output<A, Args>, Error<A, Args>, Form>,
{
    fn into_hook(self) -> ErasedSettled<A, Args> {
        <OnSettled<A, Args>>::erase(self)
    }
}

#[diagnostic::do_not_recommend]
impl<A, Args, F> SettledForm<F, A, Args, Output<A, Args>, Error<A, Args>, SyncLook<()>>
    for OnSettled<A, Args>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    F: Fn(&A, &Outcome<'_, Output<A, Args>, Error<A, Args>>) + Send + Sync + 'static,
{
    fn erase(given: F) -> ErasedSettled<A, Args> {
        ErasedSettled { run: Arc::new(given) }
    }
}
