//! Hook points: what a hooked method is, as types.

use std::convert::Infallible as Never;

use crate::class::ClassHooks;
use crate::error::{BoxError, HookError};
use crate::mode::Mode;
use crate::outcome::Outcome;

/// A hooked method of a type, identified by the struct of its arguments.
///
/// `#[hookable]` implements it, once per method: `Assistant: HookPoint<AssistantReplyArgs>`.
/// It is named in signatures that are generic over points and never implemented by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no hooked method with the arguments `{Args}`",
    note = "`#[hookable]` on an impl block makes hook points of its methods"
)]
pub trait HookPoint<Args>: 'static {
    /// What the method returns.
    type Return;
    /// Whether it can fail.
    type Kind: ReturnKind<Self::Return>;
    /// Whether it is async.
    type Mode: Mode;
    /// The method's name in the source.
    const METHOD: &'static str;
    /// The method's place in its block.
    #[doc(hidden)]
    const INDEX: u32;
    /// What a call from inside a call of the same method on the same instance does.
    #[doc(hidden)]
    const REENTRY: Reentry = Reentry::Skip;
    /// The hookable trait that the method is of, as `dyn Trait`; the type itself where it is of none.
    type Base: ?Sized + HookPoint<Args, Return = Self::Return, Kind = Self::Kind, Mode = Self::Mode>;
    /// The class hooks of the method.
    #[doc(hidden)]
    fn class() -> &'static ClassHooks;
    /// The instance as [`Base`](HookPoint::Base), where the method is of a trait.
    #[doc(hidden)]
    fn as_base(&self) -> Option<&Self::Base> {
        None
    }
}

/// A hook point that has around hooks: its body can be run any number of times.
#[diagnostic::on_unimplemented(
    message = "this method of `{Self}` has no around hooks",
    note = "around hooks may run the body any number of times, also on another thread: the method \
            must take `&self`, and its future must be `Send`"
)]
pub trait AroundPoint<Args: 'static>: HookPoint<Args> {
    /// Starts the body.
    #[doc(hidden)]
    fn start(&self, args: Args) -> <Self::Mode as Mode>::Running<'_, Self::Return>;
}

/// What post hooks of a point see: `T` of a method that returns `Result<T, E>`.
pub(crate) type Output<A, Args> =
    <<A as HookPoint<Args>>::Kind as ReturnKind<<A as HookPoint<Args>>::Return>>::Output;

/// The `E` of a method that returns `Result<T, E>`; no error at all of one that returns `T`.
pub(crate) type Error<A, Args> =
    <<A as HookPoint<Args>>::Kind as ReturnKind<<A as HookPoint<Args>>::Return>>::Error;

/// What a hook of a point fails with: [`BoxError`], or nothing where the method cannot fail.
pub(crate) type Fault<A, Args> =
    <<A as HookPoint<Args>>::Kind as ReturnKind<<A as HookPoint<Args>>::Return>>::Fault;

/// How a method's return type splits into output and error. Implemented here only.
#[diagnostic::on_unimplemented(
    message = "`{R}` does not fit a hooked method",
    note = "a return type whose name ends in `Result` must be a `std::result::Result`; for another \
            type of such a name write `#[hook(infallible)]` on the method"
)]
pub trait ReturnKind<R>: sealed::Sealed {
    #[doc(hidden)]
    type Output;
    #[doc(hidden)]
    type Error;
    #[doc(hidden)]
    type Fault;
    #[doc(hidden)]
    fn split(returned: R) -> Result<Self::Output, Self::Error>;
    #[doc(hidden)]
    fn outcome(returned: &R) -> Outcome<'_, Self::Output, Self::Error>;
    #[doc(hidden)]
    fn join(outcome: Result<Self::Output, Self::Error>) -> R;
    #[doc(hidden)]
    fn fail(fault: Self::Fault, name_it: impl FnOnce(BoxError) -> HookError) -> Self::Error;
    /// What a hook fails with; the cause itself where the method cannot fail.
    #[doc(hidden)]
    fn fault(cause: BoxError) -> Result<Self::Fault, BoxError>;
    /// The error of a call that failed; the failure itself where the method cannot fail.
    #[doc(hidden)]
    fn raise(failure: HookError) -> Result<Self::Error, HookError>;
}

/// An error type that can carry the failure of a hook: every one that is `From<HookError>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot carry the failure of a hook",
    label = "the error of a hooked method must be `From<HookError>`",
    note = "with thiserror, add a variant: `#[error(transparent)] Hook(#[from] \
            hooks_core::HookError)`"
)]
pub trait FromHookError {
    /// The error that says which hook failed.
    fn from_hook_error(error: HookError) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<HookError>> FromHookError for E {
    fn from_hook_error(error: HookError) -> Self {
        error.into()
    }
}

/// The kind of a method that returns a `Result`: its hooks may fail too.
#[derive(Debug)]
pub enum Fallible {}

/// The kind of a method that returns anything else: its hooks cannot fail.
#[derive(Debug)]
pub enum Infallible {}

impl<T, E: FromHookError> ReturnKind<Result<T, E>> for Fallible {
    type Output = T;
    type Error = E;
    type Fault = BoxError;

    fn split(returned: Result<T, E>) -> Result<T, E> {
        returned
    }

    fn outcome(returned: &Result<T, E>) -> Outcome<'_, T, E> {
        match returned {
            Ok(output) => Outcome::Ok(output),
            Err(error) => Outcome::Err(error),
        }
    }

    fn join(outcome: Result<T, E>) -> Result<T, E> {
        outcome
    }

    fn fail(fault: BoxError, name_it: impl FnOnce(BoxError) -> HookError) -> E {
        E::from_hook_error(name_it(fault))
    }

    fn fault(cause: BoxError) -> Result<BoxError, BoxError> {
        Ok(cause)
    }

    fn raise(failure: HookError) -> Result<E, HookError> {
        Ok(E::from_hook_error(failure))
    }
}

impl<T> ReturnKind<T> for Infallible {
    type Output = T;
    type Error = Never;
    type Fault = Never;

    fn split(returned: T) -> Result<T, Never> {
        Ok(returned)
    }

    fn outcome(returned: &T) -> Outcome<'_, T, Never> {
        Outcome::Ok(returned)
    }

    fn join(outcome: Result<T, Never>) -> T {
        match outcome {
            Ok(output) => output,
            Err(never) => match never {},
        }
    }

    fn fail(fault: Never, _: impl FnOnce(BoxError) -> HookError) -> Never {
        match fault {}
    }

    fn fault(cause: BoxError) -> Result<Never, BoxError> {
        Err(cause)
    }

    fn raise(failure: HookError) -> Result<Never, HookError> {
        Err(failure)
    }
}

/// What a nested call does: a call of a hooked method from inside a call of the same method on the
/// same instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reentry {
    /// It goes straight to the body.
    Skip,
    /// It runs its hooks like any other, up to a depth of 16.
    Run,
    /// It fails.
    Deny,
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Fallible {}
    impl Sealed for super::Infallible {}
}
