//! Class hooks that the linker collects.

use std::any::TypeId;

use crate::dispatch::point_hooks::{HookTypeOf, remove_spent};
use crate::hook::into_hook::IntoHook;
use crate::hook::options::hook_options::HookOptions;
use crate::hook_type::HookType;
use crate::registry::class::ClassHooks;
use crate::registry::list::Place;
use crate::registry::registration::Source;
use crate::registry::table::Registry;

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
    let entry =
        options.into_entry(Source { file: file.into(), line }, hook.into_hook(), remove_spent::<T>);
    T::register(registry, entry, Place::Behind);
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
