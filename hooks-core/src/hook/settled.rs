//! Settled hooks: they look at the end of a call, however it came.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::hook::into_hook::{ArgsElapsed, Elapsed, Erased, IntoHook, SyncLook};
use crate::hook_type::Phase;
use crate::outcome::Outcome;
use crate::point::hook_point::{Error, HookPoint, Output};
use crate::point::hook_slot::{HookSlot, KeepArgs, NoUndo, OnSettled};

/// A settled hook in its erased form.
#[doc(hidden)]
pub struct ErasedSettled<A: ?Sized + HookPoint<Args>, Args: 'static> {
    pub(crate) run: Arc<Settled<A, Args>>,
    pub(crate) keep_args: KeepArgs<OnSettled<A, Args>>,
}

/// The arguments are there if the hook has them copied.
pub(crate) type Settled<A, Args> = dyn Fn(&A, Option<&Args>, &Outcome<'_, Output<A, Args>, Error<A, Args>>, Duration)
    + Send
    + Sync;

impl<A: ?Sized + HookPoint<Args>, Args> Clone for ErasedSettled<A, Args> {
    fn clone(&self) -> Self {
        Self { run: self.run.clone(), keep_args: self.keep_args }
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
    type Hook = ErasedSettled<A, Args>;
    const PHASE: Phase = Phase::Settled;

    fn keep_args(hook: &Self::Hook) -> KeepArgs<Self> {
        hook.keep_args
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> OnSettled<A, Args> {
    /// A closure as a hook of this type, `|agent, outcome|`: the types of its parameters are inferred. See
    /// [`Pre::sync`](crate::Pre::sync).
    pub fn sync<F>(self, hook: F) -> ErasedSettled<A, Args>
    where
        F: Fn(&A, &Outcome<'_, Output<A, Args>, Error<A, Args>>) + Send + Sync + 'static,
    {
        <Self as SettledForm<F, _, _, _, _, SyncLook<()>>>::erase(hook)
    }

    /// A closure that takes the duration of the call too, `|agent, outcome, elapsed|`.
    pub fn with_elapsed<F>(self, hook: F) -> ErasedSettled<A, Args>
    where
        F: Fn(&A, &Outcome<'_, Output<A, Args>, Error<A, Args>>, Duration) + Send + Sync + 'static,
    {
        <Self as SettledForm<F, _, _, _, _, Elapsed>>::erase(hook)
    }

    /// A closure that takes the arguments too, `|agent, args, outcome, elapsed|`.
    pub fn with_args<F>(self, hook: F) -> ErasedSettled<A, Args>
    where
        Args: Clone,
        F: Fn(&A, &Args, &Outcome<'_, Output<A, Args>, Error<A, Args>>, Duration)
            + Send
            + Sync
            + 'static,
    {
        <Self as SettledForm<F, _, _, _, _, ArgsElapsed>>::erase(hook)
    }
}

/// A form of a settled hook; the parameters are there to be named in messages.
#[diagnostic::on_unimplemented(
    message = "this is not a settled hook of `{A}`",
    label = "its parameters, what it returns or `Send` do not fit: see the note",
    note = "it is `|agent: &{A}, outcome: &Outcome<'_, {Output}, {Error}>|`, with the types written out, is \
            sync, and returns nothing; it may take `elapsed: Duration` behind the outcome, and then `args: \
            &{Args}` before it, which must be `Clone`"
)]
#[doc(hidden)]
pub trait SettledForm<H, A: ?Sized + HookPoint<Args>, Args: 'static, Output, Error, Form> {
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
impl<A, Args> SettledForm<ErasedSettled<A, Args>, A, Args, Output<A, Args>, Error<A, Args>, Erased>
    for OnSettled<A, Args>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
{
    fn erase(given: ErasedSettled<A, Args>) -> ErasedSettled<A, Args> {
        given
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
        let run = move |agent: &A,
                        _: Option<&Args>,
                        outcome: &Outcome<'_, Output<A, Args>, Error<A, Args>>,
                        _: Duration| given(agent, outcome);
        ErasedSettled { run: Arc::new(run), keep_args: None }
    }
}

#[diagnostic::do_not_recommend]
impl<A, Args, F> SettledForm<F, A, Args, Output<A, Args>, Error<A, Args>, Elapsed>
    for OnSettled<A, Args>
where
    A: ?Sized + HookPoint<Args>,
    Args: 'static,
    F: Fn(&A, &Outcome<'_, Output<A, Args>, Error<A, Args>>, Duration) + Send + Sync + 'static,
{
    fn erase(given: F) -> ErasedSettled<A, Args> {
        let run = move |agent: &A,
                        _: Option<&Args>,
                        outcome: &Outcome<'_, Output<A, Args>, Error<A, Args>>,
                        elapsed: Duration| given(agent, outcome, elapsed);
        ErasedSettled { run: Arc::new(run), keep_args: None }
    }
}

#[diagnostic::do_not_recommend]
impl<A, Args, F> SettledForm<F, A, Args, Output<A, Args>, Error<A, Args>, ArgsElapsed>
    for OnSettled<A, Args>
where
    A: ?Sized + HookPoint<Args>,
    Args: Clone + 'static,
    F: Fn(&A, &Args, &Outcome<'_, Output<A, Args>, Error<A, Args>>, Duration)
        + Send
        + Sync
        + 'static,
{
    fn erase(given: F) -> ErasedSettled<A, Args> {
        let run = move |agent: &A,
                        args: Option<&Args>,
                        outcome: &Outcome<'_, Output<A, Args>, Error<A, Args>>,
                        elapsed: Duration| {
            given(agent, args.expect("they were copied for this hook"), outcome, elapsed);
        };
        ErasedSettled { run: Arc::new(run), keep_args: Some(Args::clone) }
    }
}
