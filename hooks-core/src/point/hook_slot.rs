//! Hook types as types: a phase of a method of an agent.

use std::fmt;
use std::marker::PhantomData;

use crate::hook_type::{HookType, Phase};
use crate::point::hook_point::HookPoint;

/// A hook type as a type. Implemented here only.
pub trait HookSlot: sealed::Sealed + Copy + Send + Sync + Into<HookType> + 'static {
    /// The agent.
    type Agent: ?Sized + HookPoint<Self::Args>;
    /// The arguments of the method.
    type Args: 'static;
    /// What a hook of that type may change, and what is put back if it fails and is ignored.
    #[doc(hidden)]
    type Subject: 'static;
    /// The erased form of a hook of that type.
    #[doc(hidden)]
    type Hook: Clone + Send + Sync;
    #[doc(hidden)]
    const PHASE: Phase;
    /// Whether a hook has to be awaited.
    #[doc(hidden)]
    #[must_use]
    fn waits(_: &Self::Hook) -> bool {
        false
    }
    /// Whether the form of a hook lets it answer in place of the body.
    #[doc(hidden)]
    #[must_use]
    fn may_answer(_: &Self::Hook) -> bool {
        true
    }
    /// How a hook that sees the arguments after the body has them copied before it.
    #[doc(hidden)]
    #[must_use]
    fn keep_args(_: &Self::Hook) -> KeepArgs<Self> {
        None
    }
    #[doc(hidden)]
    const METHOD: &'static str = <Self::Agent as HookPoint<Self::Args>>::METHOD;
}

/// How a hook that sees the arguments after the body has them copied before it; `None` if it does
/// not see them.
pub(crate) type KeepArgs<P> = Option<fn(&<P as HookSlot>::Args) -> <P as HookSlot>::Args>;

/// What cannot be put back: around hooks give the arguments away, settled hooks change nothing.
#[derive(Debug)]
#[doc(hidden)]
pub struct NoUndo(());

macro_rules! hook_slot {
    ($(#[$doc:meta])* $name:ident = $phase:ident) => {
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

        impl<A: ?Sized, Args> sealed::Sealed for $name<A, Args> {}

        impl<A: ?Sized + HookPoint<Args>, Args> From<$name<A, Args>> for HookType {
            fn from(_: $name<A, Args>) -> Self {
                HookType::new(Phase::$phase, A::METHOD)
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

hook_slot! {
    /// The hook type `pre_<method>` of an agent, as a type: `Assistant::PRE_REPLY`.
    Pre = Pre
}

hook_slot! {
    /// The hook type `around_<method>` of an agent, as a type: `Assistant::AROUND_REPLY`.
    Around = Around
}

hook_slot! {
    /// The hook type `post_<method>` of an agent, as a type: `Assistant::POST_REPLY`.
    Post = Post
}

hook_slot! {
    /// The hook type `error_<method>` of an agent, as a type: `Assistant::ERROR_REPLY`.
    OnError = Error
}

hook_slot! {
    /// The hook type `settled_<method>` of an agent, as a type: `Assistant::SETTLED_REPLY`.
    OnSettled = Settled
}

mod sealed {
    pub trait Sealed {}
}
