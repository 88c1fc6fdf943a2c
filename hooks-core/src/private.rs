//! What expansions name. Nothing here is public API.

use std::any::TypeId;

pub use std::borrow::{Cow, ToOwned};
pub use std::boxed::Box;
pub use std::option::Option;
pub use std::string::String;
pub use std::vec::Vec;

pub use inventory;

use crate::chain::HookTypeOf;
use crate::entry::Entry;
use crate::form::IntoHook;
use crate::hook_type::HookType;
use crate::options::Hook;
use crate::registry::{Registry, Source};

pub use crate::class::{ClassHooks, HookedMethod, HookedMethods, LinkedHook};
pub use crate::dispatch::{run, run_alone, run_sync, run_sync_alone, skips_hooks};
pub use crate::lend::{Lend, Share};
pub use crate::point::{Async, Fallible, Infallible, Reentry, Sync};

/// Puts a hook that the linker brought into its class table.
pub fn link<A, T, H, Form>(
    registry: &Registry,
    _hook_type: T,
    options: Hook,
    (file, line): (&'static str, u32),
    hook: H,
) where
    T: HookTypeOf<A>,
    H: IntoHook<T, Form>,
{
    let entry = Entry::new(options, Source { file, line }, hook.into_hook());
    T::edit(registry, |chain| chain.append(entry));
}

/// The type name of the agent of a hook type, and the hook type.
pub fn describe<A, T: HookTypeOf<A>>(hook_type: T) -> (&'static str, HookType) {
    (std::any::type_name::<A>(), hook_type.into())
}

/// The class table of a hook type.
pub fn class_of<A, T: HookTypeOf<A>>(_hook_type: T) -> &'static ClassHooks {
    T::class()
}

/// The identity of a type.
#[must_use]
pub fn type_id<T: 'static>() -> TypeId {
    TypeId::of::<T>()
}
