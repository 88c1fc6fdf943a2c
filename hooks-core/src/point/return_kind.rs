//! Kinds of return types of hooked methods: a value, or a `Result`.

use std::convert::Infallible as Never;

use crate::error::{BoxError, HookError};
use crate::outcome::Outcome;

/// How a method's return type splits into output and error. Implemented here only.
#[diagnostic::on_unimplemented(
    message = "`{R}` does not fit a hooked method",
    note = "a return type whose name ends in `Result` must be a `std::result::Result`; for another \
            type of such a name write `#[hook(infallible)]` on the method"
)]
pub trait ReturnKind<R>: sealed::Sealed {
    /// What post hooks see: the `T` of a `Result<T, E>`, or all of it.
    type Output;
    /// The `E` of a `Result<T, E>`; no value at all of a method that cannot fail.
    type Error;
    /// What its hooks fail with: a [`BoxError`], or nothing.
    type Fault: Send;
    #[doc(hidden)]
    fn output_mut(returned: &mut R) -> Option<&mut Self::Output>;
    #[doc(hidden)]
    fn error_mut(returned: &mut R) -> Option<&mut Self::Error>;
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

/// An error type of a hooked method: every one that is `From<HookError>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` must implement `From<HookError>`",
    label = "a hooked method that returns a `Result` fails with a `HookError` if one of its hooks fails",
    note = "with thiserror, add a variant: `#[error(transparent)] Hook(#[from] \
            hooks_core::HookError)`",
    note = "for an error type of another crate: return one of your own (`.map_err(..)`), or write \
            `#[hook(infallible)]` on the method: its hooks cannot fail then, and see the whole `Result`"
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
pub enum FallibleMethod {}

/// The kind of a method that returns anything else: its hooks cannot fail.
#[derive(Debug)]
pub enum InfallibleMethod {}

impl<T, E: FromHookError> ReturnKind<Result<T, E>> for FallibleMethod {
    type Output = T;
    type Error = E;
    type Fault = BoxError;

    #[inline]
    fn output_mut(returned: &mut Result<T, E>) -> Option<&mut T> {
        returned.as_mut().ok()
    }

    #[inline]
    fn error_mut(returned: &mut Result<T, E>) -> Option<&mut E> {
        returned.as_mut().err()
    }

    #[inline]
    fn outcome(returned: &Result<T, E>) -> Outcome<'_, T, E> {
        match returned {
            Ok(output) => Outcome::Ok(output),
            Err(error) => Outcome::Err(error),
        }
    }

    #[inline]
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

impl<T> ReturnKind<T> for InfallibleMethod {
    type Output = T;
    type Error = Never;
    type Fault = Never;

    #[inline]
    fn output_mut(returned: &mut T) -> Option<&mut T> {
        Some(returned)
    }

    #[inline]
    fn error_mut(_: &mut T) -> Option<&mut Never> {
        None
    }

    #[inline]
    fn outcome(returned: &T) -> Outcome<'_, T, Never> {
        Outcome::Ok(returned)
    }

    #[inline]
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

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::FallibleMethod {}
    impl Sealed for super::InfallibleMethod {}
}
