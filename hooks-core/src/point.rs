//! Hook points: what a hooked method is, as types.

use std::convert::Infallible as Never;
use std::fmt;
use std::marker::PhantomData;

use crate::class::ClassHooks;
use crate::error::{BoxError, HookError};
use crate::hook_type::{HookType, Phase};

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
    /// Whether it can fail: [`Fallible`] or [`Infallible`].
    type Kind: ReturnKind<Self::Return>;
    /// Whether it waits: [`Async`] or [`Sync`].
    type Mode: Mode;
    /// The method's name in the source.
    const METHOD: &'static str;
    /// The method's place in its block.
    #[doc(hidden)]
    const INDEX: u32;
    #[doc(hidden)]
    fn class() -> &'static ClassHooks;
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
    fn join(outcome: Result<Self::Output, Self::Error>) -> R;
    #[doc(hidden)]
    fn fail(fault: Self::Fault, name_it: impl FnOnce(BoxError) -> HookError) -> Self::Error;
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

    fn join(outcome: Result<T, E>) -> Result<T, E> {
        outcome
    }

    fn fail(fault: BoxError, name_it: impl FnOnce(BoxError) -> HookError) -> E {
        E::from_hook_error(name_it(fault))
    }
}

impl<T> ReturnKind<T> for Infallible {
    type Output = T;
    type Error = Never;
    type Fault = Never;

    fn split(returned: T) -> Result<T, Never> {
        Ok(returned)
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
}

/// Whether a method is async. Implemented here only.
pub trait Mode: sealed::Sealed + 'static {
    /// Proof that an async hook may exist: a value for [`Async`], none for [`Sync`].
    #[doc(hidden)]
    type AsyncHooks: Copy + Send + std::marker::Sync + 'static;
}

/// The mode of an `async fn`: its hooks may be sync or async.
#[derive(Debug)]
pub enum Async {}

/// The mode of a plain `fn`: its hooks are sync.
#[derive(Debug)]
pub enum Sync {}

impl Mode for Async {
    type AsyncHooks = ();
}

impl Mode for Sync {
    type AsyncHooks = Never;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Fallible {}
    impl Sealed for super::Infallible {}
    impl Sealed for super::Async {}
    impl Sealed for super::Sync {}
}

macro_rules! typed_hook_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name<A: ?Sized, Args>(PhantomData<fn(Args) -> *const A>);

        impl<A: ?Sized, Args> $name<A, Args> {
            /// The hook type as `#[hookable]` declares it.
            #[doc(hidden)]
            #[must_use]
            pub const fn new() -> Self {
                Self(PhantomData)
            }
        }

        impl<A: ?Sized, Args> Clone for $name<A, Args> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<A: ?Sized, Args> Copy for $name<A, Args> {}

        impl<A: ?Sized + HookPoint<Args>, Args> From<$name<A, Args>> for HookType {
            fn from(_: $name<A, Args>) -> Self {
                HookType::new(Phase::$name, A::METHOD)
            }
        }

        impl<A: ?Sized + HookPoint<Args>, Args> fmt::Display for $name<A, Args> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&HookType::from(*self), f)
            }
        }

        impl<A: ?Sized + HookPoint<Args>, Args> fmt::Debug for $name<A, Args> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&HookType::from(*self), f)
            }
        }
    };
}

typed_hook_type! {
    /// The hook type `pre_<method>` of an agent, as a type: `Assistant::PRE_REPLY`.
    Pre
}

typed_hook_type! {
    /// The hook type `post_<method>` of an agent, as a type: `Assistant::POST_REPLY`.
    Post
}
