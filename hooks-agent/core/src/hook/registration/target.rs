//! Where hooks are registered: at an agent, or at all agents of a type.

use std::marker::PhantomData;

use hooks_core::options::{IntoHookOptions, Limit, OnFailure, When};
use hooks_core::{HookTypeOf, Hookable, IntoHook, Level};

/// An agent of type `A`, or all of them.
pub(crate) trait Target<A: ?Sized> {
    /// The level of its hooks.
    const LEVEL: Level;

    /// Registers a hook of a method.
    fn register<T, O, H, Form>(&self, hook_type: T, options: O, hook: H)
    where
        T: HookTypeOf<A>,
        O: IntoHookOptions<OnFailure: OnFailure<T>, When: When<T>, Limit: Limit<T, O::OnFailure>>,
        H: IntoHook<T, Form>;
}

/// Returns the level of the hooks of a target.
pub(crate) fn level_of<A: ?Sized, T: Target<A>>(_: &T) -> Level {
    T::LEVEL
}

/// One agent.
pub(crate) struct Instance<'a, A: ?Sized>(pub(crate) &'a A);

/// All agents of type `A`.
pub(crate) struct Class<A: ?Sized>(pub(crate) PhantomData<fn(&A)>);

impl<A: Hookable + ?Sized> Target<A> for Instance<'_, A> {
    const LEVEL: Level = Level::Instance;

    fn register<T, O, H, Form>(&self, hook_type: T, options: O, hook: H)
    where
        T: HookTypeOf<A>,
        O: IntoHookOptions<OnFailure: OnFailure<T>, When: When<T>, Limit: Limit<T, O::OnFailure>>,
        H: IntoHook<T, Form>,
    {
        self.0.register_instance_hook(hook_type, options, hook);
    }
}

impl<A: Hookable + ?Sized> Target<A> for Class<A> {
    const LEVEL: Level = Level::Class;

    fn register<T, O, H, Form>(&self, hook_type: T, options: O, hook: H)
    where
        T: HookTypeOf<A>,
        O: IntoHookOptions<OnFailure: OnFailure<T>, When: When<T>, Limit: Limit<T, O::OnFailure>>,
        H: IntoHook<T, Form>,
    {
        A::register_class_hook(hook_type, options, hook);
    }
}
