//! What expansions name. Nothing here is public API.

use std::any::TypeId;

pub use std::borrow::{Cow, ToOwned};
pub use std::boxed::Box;
pub use std::clone::Clone;
pub use std::convert::Infallible as Never;
pub use std::option::Option;
pub use std::string::String;
pub use std::vec::Vec;

pub use inventory;
#[cfg(feature = "json")]
pub use serde;

use crate::hook::into_hook::IntoHook;
use crate::hook::options::HookOptions;
use crate::hook::point_hooks::HookTypeOf;
use crate::hook_type::HookType;
use crate::registry::table::{Registry, Source};

pub use crate::dispatch::receiver::{ExclusiveReceiver, SharedReceiver};
pub use crate::dispatch::run::{run, run_alone, run_sync, run_sync_alone};
pub use crate::dispatch::snapshot::is_unhooked;
pub use crate::hook::around::{DynCall, Running};
#[cfg(feature = "json")]
pub use crate::hook::json::JsonPoint;
pub use crate::point::call_mode::{Async, Sync};
pub use crate::point::hook_point::Reentry;
pub use crate::point::return_kind::{Fallible, Infallible};
pub use crate::registry::class::{ClassHooks, LinkedHook};
pub use crate::registry::methods::{HookedMethod, HookedMethods};

/// Puts a `#[class_hook]` into its class table.
pub fn link<A, T, H, Form>(
    registry: &Registry,
    _hook_type: T,
    options: HookOptions,
    (file, line): (&'static str, u32),
    hook: H,
) where
    A: ?Sized,
    T: HookTypeOf<A>,
    H: IntoHook<T, Form>,
{
    let entry = options.into_entry(Source { file, line }, hook.into_hook());
    T::edit(registry, |list| list.append(entry));
}

/// The type name of the agent of a hook type, and the hook type.
pub fn describe<A: ?Sized, T: HookTypeOf<A>>(hook_type: T) -> (&'static str, HookType) {
    (std::any::type_name::<A>(), hook_type.into())
}

/// The class table of a hook type.
pub fn class_of<A: ?Sized, T: HookTypeOf<A>>(_hook_type: T) -> &'static ClassHooks {
    T::class()
}

/// The identity of a type.
#[must_use]
pub fn type_id<T: ?Sized + 'static>() -> TypeId {
    TypeId::of::<T>()
}

/// How an impl of a hookable trait finds what the trait has for a method.
///
/// It is the same for every `Type`, the implementor. Without it the compiler would not look at what
/// another crate says: that could come to say something else.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no hooked method of this name",
    label = "hooked here, but not in the trait",
    note = "mark it `#[hook]` in the trait, which must be `#[hookable]`, or `#[hook(skip)]` here"
)]
pub trait TraitMethod<const METHOD: u64, Type: ?Sized> {
    /// The arguments of the method.
    type Args;
}

/// The number that stands for a method in [`TraitMethod`]: the hash of its name, by FNV-1a.
#[must_use]
pub const fn method(name: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut rest = name.as_bytes();
    while let [byte, others @ ..] = rest {
        hash = (hash ^ *byte as u64).wrapping_mul(0x0100_0000_01b3);
        rest = others;
    }
    hash
}
