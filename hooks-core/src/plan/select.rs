//! Which hook type is meant, by constant or by text.

use std::any::{TypeId, type_name};

use crate::error::RegistryError;
use crate::hook_type::HookType;
use crate::point::hook_point::HookPoint;
use crate::point::hook_slot::{Around, OnError, OnSettled, Post, Pre};
use crate::registry::methods::{HookedMethod, methods_of};
use crate::registry::type_name::short_name;

/// A hook type of the agent `A`, by constant or by text. Implemented here only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a hook type of `{A}`",
    note = "name it by constant, `{A}::PRE_REPLY`, or by text, `\"pre_reply\"`"
)]
pub trait SelectHookType<A: ?Sized>: sealed::Sealed {
    /// The hook type, once it is sure that the agent has it.
    #[doc(hidden)]
    fn select(self) -> Result<HookType, RegistryError>;
}

impl<A: ?Sized + 'static> SelectHookType<A> for &str {
    fn select(self) -> Result<HookType, RegistryError> {
        SelectHookType::<A>::select(self.parse::<HookType>()?)
    }
}

macro_rules! select_by_constant {
    ($($slot:ident),*) => {$(
        impl<A: ?Sized + HookPoint<Args>, Args: 'static> SelectHookType<A> for $slot<A, Args> {
            fn select(self) -> Result<HookType, RegistryError> {
                Ok(self.into())
            }
        }
    )*};
}

select_by_constant!(Pre, Around, Post, OnError, OnSettled);

impl<A: ?Sized + 'static> SelectHookType<A> for HookType {
    fn select(self) -> Result<HookType, RegistryError> {
        let methods = methods_of(TypeId::of::<A>(), type_name::<A>());
        let known: Vec<_> = methods.into_iter().flat_map(HookedMethod::types).collect();
        if known.contains(&self) {
            return Ok(self);
        }
        Err(RegistryError::UnknownHookType {
            hook_type: self,
            agent: short_name(type_name::<A>()).to_owned(),
            known: known.iter().map(ToString::to_string).collect(),
        })
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for &str {}
    impl Sealed for super::HookType {}
    impl<A: ?Sized, Args> Sealed for super::Pre<A, Args> {}
    impl<A: ?Sized, Args> Sealed for super::Around<A, Args> {}
    impl<A: ?Sized, Args> Sealed for super::Post<A, Args> {}
    impl<A: ?Sized, Args> Sealed for super::OnError<A, Args> {}
    impl<A: ?Sized, Args> Sealed for super::OnSettled<A, Args> {}
}
