//! The trait of everything that has hooks: registration on instances and on classes.

use std::any::{TypeId, type_name};
use std::panic::Location;

use crate::dispatch::point_hooks::{HookTypeOf, remove_spent};
use crate::dispatch::snapshot::{has_hooks, is_hooked};
use crate::error::RegistryError;
use crate::group::HookGroup;
use crate::hook::into_hook::IntoHook;
#[cfg(feature = "json")]
use crate::hook::options::hook_options::HookOptions;
use crate::hook::options::hook_options::IntoHookOptions;
use crate::hook::options::policy::{Limit, OnFailure, When};
use crate::hook_type::{HookType, Level};
#[cfg(feature = "json")]
use crate::json::{JsonHook, JsonPoint};
use crate::plan::hook_plan::HookPlan;
use crate::plan::select::SelectHookType;
use crate::plan::version::HooksVersion;
use crate::point::hook_slot::HookSlot;
use crate::registry::class::class_tables;
use crate::registry::hooks::HasHooks;
use crate::registry::list::Place;
use crate::registry::registration::Source;
use crate::registry::type_name::short_name;

/// What can be done with the hooks of a type; every type that [has hooks](HasHooks) has it, also `dyn
/// Trait` of a hookable trait.
///
/// All operations take `&self` or no receiver at all: hooks come and go while calls run, on any
/// thread. A call runs the hooks that were there when it started, in every phase.
///
/// ```
/// use hooks_core::{HookOptions, Hookable, Hooks, hookable};
///
/// #[derive(Hookable, Default)]
/// struct Greeter {
///     hooks: Hooks,
/// }
///
/// #[hookable]
/// impl Greeter {
///     fn reply(&self, name: &str) -> String {
///         format!("Hello, {name}")
///     }
/// }
///
/// let greeter = Greeter::default();
/// greeter.register_instance_hook(
///     Greeter::POST_REPLY,
///     "shout",
///     |_: &Greeter, _: &GreeterReplyArgs, reply: &mut String| reply.push('!'),
/// );
/// greeter.register_instance_hook(
///     Greeter::PRE_REPLY,
///     HookOptions::named("trim").priority(10),
///     |_: &Greeter, args: &mut GreeterReplyArgs| args.name = args.name.trim().to_owned(),
/// );
/// assert_eq!(greeter.reply(" Ada "), "Hello, Ada!");
///
/// greeter.remove_instance_hook(Greeter::POST_REPLY, "shout")?;
/// greeter.clear_instance_hooks("pre_reply")?;
/// assert_eq!(greeter.reply(" Ada "), "Hello,  Ada ");
/// # Ok::<(), hooks_core::RegistryError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no hooks",
    note = "add a field of type `hooks_core::Hooks` to `{Self}` and derive it: `#[derive(Hookable)]`"
)]
pub trait Hookable: HasHooks {
    /// Registers a hook on this instance.
    ///
    /// `options` is the name of the hook, or [`HookOptions`](crate::HookOptions). Replaces a hook of the same name and type in
    /// place; one whose priority changes moves.
    #[track_caller]
    fn register_instance_hook<T, O, H, Form>(&self, _hook_type: T, options: O, hook: H)
    where
        T: HookTypeOf<Self>,
        O: IntoHookOptions<OnFailure: OnFailure<T>, When: When<T>, Limit: Limit<T, O::OnFailure>>,
        H: IntoHook<T, Form>,
    {
        let options = options.into_hook_options();
        let entry = options.into_entry(caller(), hook.into_hook(), remove_spent::<T>);
        T::register(self.hooks().get_or_init(), entry, Place::ByName);
    }

    /// Removes a hook of this instance, be it registered by its own type or by a trait of it.
    ///
    /// # Errors
    /// [`RegistryError::NotFound`] if there is no such hook, [`RegistryError::UnknownHookType`] if the
    /// type was given by text and the agent does not have it.
    fn remove_instance_hook(
        &self,
        hook_type: impl SelectHookType<Self>,
        name: &str,
    ) -> Result<(), RegistryError> {
        let hook_type = hook_type.select()?;
        let registry = self.hooks().get();
        let found = registry.is_some_and(|hooks| hooks.remove(None, &hook_type, name));
        found_or_error::<Self>(found, hook_type, name, Level::Instance)
    }

    /// Removes the hooks of a group from this instance and returns how many there were. A call of a
    /// method runs all of its hooks in the group or none.
    fn remove_instance_group(&self, group: HookGroup) -> usize {
        self.hooks().get().map_or(0, |registry| registry.remove_group(group))
    }

    /// Returns whether a call that starts now runs hooks of this type, of the instance or of a
    /// class. Those that only [look on](HookOptions::looks_on) do not count.
    fn has_hooks<T>(&self, _hook_type: T) -> bool
    where
        T: HookTypeOf<Self> + HookSlot<Agent = Self>,
    {
        has_hooks::<T>(self)
    }

    /// Returns whether a call that starts now of the method of this hook type runs any hooks.
    fn is_hooked<T>(&self, _hook_type: T) -> bool
    where
        T: HookTypeOf<Self> + HookSlot<Agent = Self>,
    {
        is_hooked::<T>(self)
    }

    /// Removes all hooks of one type from this instance; that there are none is no error.
    ///
    /// # Errors
    /// [`RegistryError::UnknownHookType`] if the type was given by text and the agent does not have
    /// it.
    fn clear_instance_hooks(
        &self,
        hook_type: impl SelectHookType<Self>,
    ) -> Result<(), RegistryError> {
        let hook_type = hook_type.select()?;
        if let Some(registry) = self.hooks().get() {
            registry.clear(None, Some(&hook_type));
        }
        Ok(())
    }

    /// Removes all hooks from this instance.
    fn clear_all_instance_hooks(&self) {
        if let Some(registry) = self.hooks().get() {
            registry.clear(None, None);
        }
    }

    /// Registers a hook for every instance of this type.
    ///
    /// `options` is the name of the hook, or [`HookOptions`](crate::HookOptions). Each
    /// [`#[class_hook]`](crate::class_hook) counts as registered before it.
    #[track_caller]
    fn register_class_hook<T, O, H, Form>(_hook_type: T, options: O, hook: H)
    where
        T: HookTypeOf<Self>,
        O: IntoHookOptions<OnFailure: OnFailure<T>, When: When<T>, Limit: Limit<T, O::OnFailure>>,
        H: IntoHook<T, Form>,
    {
        let options = options.into_hook_options();
        let entry = options.into_entry(caller(), hook.into_hook(), remove_spent::<T>);
        T::register(T::class().registry(), entry, Place::ByName);
    }

    /// Removes a class hook of this type, also a `#[class_hook]`.
    ///
    /// # Errors
    /// As [`remove_instance_hook`](Hookable::remove_instance_hook).
    fn remove_class_hook(
        hook_type: impl SelectHookType<Self>,
        name: &str,
    ) -> Result<(), RegistryError> {
        let hook_type = hook_type.select()?;
        let mut found = false;
        for table in class_tables() {
            found |= table.registry().remove(Some(TypeId::of::<Self>()), &hook_type, name);
        }
        found_or_error::<Self>(found, hook_type, name, Level::Class)
    }

    /// Removes all class hooks of one type, also each `#[class_hook]`.
    ///
    /// # Errors
    /// As [`clear_instance_hooks`](Hookable::clear_instance_hooks).
    fn clear_class_hooks(hook_type: impl SelectHookType<Self>) -> Result<(), RegistryError> {
        let hook_type = hook_type.select()?;
        for table in class_tables() {
            table.registry().clear(Some(TypeId::of::<Self>()), Some(&hook_type));
        }
        Ok(())
    }

    /// Removes all class hooks of this type, also each `#[class_hook]`.
    fn clear_all_class_hooks() {
        for table in class_tables() {
            table.registry().clear(Some(TypeId::of::<Self>()), None);
        }
    }

    /// Removes the class hooks of a group, of every type, and returns how many there were. A call of a
    /// method runs all hooks of its type in the group or none, and all those of the trait that the method is of,
    /// or none: the two are removed one after the other.
    ///
    /// ```
    /// use hooks_core::{HookGroup, HookOptions, Hookable, Hooks, hookable};
    ///
    /// #[derive(Hookable, Default)]
    /// struct Greeter {
    ///     hooks: Hooks,
    /// }
    ///
    /// #[hookable]
    /// impl Greeter {
    ///     fn reply(&self, name: &str) -> String {
    ///         format!("Hello, {name}")
    ///     }
    /// }
    ///
    /// let group = HookGroup::new("polite");
    /// let options = HookOptions::named("dear").group(group);
    /// let dear = |_: &Greeter, args: &mut GreeterReplyArgs| args.name.insert_str(0, "dear ");
    /// Greeter::register_class_hook(Greeter::PRE_REPLY, options, dear);
    /// assert_eq!(Greeter::default().reply("Ada"), "Hello, dear Ada");
    ///
    /// assert_eq!(Greeter::remove_class_group(group), 1);
    /// assert_eq!(Greeter::default().reply("Ada"), "Hello, Ada");
    /// ```
    #[expect(clippy::must_use_candidate, reason = "the hooks are gone, counted or not")]
    fn remove_class_group(group: HookGroup) -> usize {
        class_tables().iter().map(|table| table.registry().remove_group(group)).sum()
    }

    /// Registers a hook over JSON on this instance: a rule from configuration, a
    /// recorder, a plug-in, which need not know the types of the agent.
    ///
    /// The agent's block is marked `#[hookable(json)]`, which needs the feature `json` of this crate; the
    /// types of its arguments and outputs are `Serialize` and `DeserializeOwned`; it is not generic.
    ///
    /// # Errors
    /// [`RegistryError::NoJson`] if the hook type does not take hooks over JSON, or the hook has another form
    /// than [`JsonHook`] says; [`RegistryError::UnknownHookType`] if the agent does not have it.
    ///
    /// ```
    /// use hooks_core::{HookError, HookResult, Hookable, Hooks, hookable};
    /// use serde_json::Value;
    ///
    /// #[derive(Hookable, Default)]
    /// struct Assistant {
    ///     hooks: Hooks,
    /// }
    ///
    /// #[hookable(json)]
    /// impl Assistant {
    ///     fn reply(&self, msg: &str, style: Option<&str>) -> Result<String, HookError> {
    ///         Ok(format!("{msg} in {} style", style.unwrap_or("plain")))
    ///     }
    /// }
    ///
    /// let assistant = Assistant::default();
    /// assistant.register_json_hook("pre_reply", "style", |args: &mut Value| {
    ///     args["style"] = "grand".into();
    /// })?;
    /// assistant.register_json_hook(
    ///     "post_reply",
    ///     "limit",
    ///     |_: &Value, output: &mut Value| -> HookResult {
    ///         match output.as_str() {
    ///             Some(text) if text.len() > 20 => Err("too long".into()),
    ///             _ => Ok(()),
    ///         }
    ///     },
    /// )?;
    /// assert_eq!(assistant.reply("hi", None)?, "hi in grand style");
    /// assert!(assistant.reply("a message as long as this", None).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "json")]
    #[track_caller]
    fn register_json_hook<H, Form>(
        &self,
        hook_type: impl SelectHookType<Self>,
        options: impl Into<HookOptions>,
        hook: H,
    ) -> Result<(), RegistryError>
    where
        H: JsonHook<Form>,
    {
        let hook_type = hook_type.select()?;
        let Some(point) = JsonPoint::of(TypeId::of::<Self>(), hook_type.method()) else {
            return Err(no_json::<Self>(hook_type, NOT_JSON));
        };
        let registry = self.hooks().get_or_init();
        point
            .register(registry, hook_type.phase(), options.into(), caller(), hook.into_json())
            .map_err(|reason| no_json::<Self>(hook_type, reason))
    }

    /// Registers a hook over JSON for every instance of this type, or for every implementor of this
    /// trait.
    ///
    /// # Errors
    /// As [`register_json_hook`](Hookable::register_json_hook); [`RegistryError::NoJson`] also for a method
    /// of a trait that the type implements.
    #[cfg(feature = "json")]
    #[track_caller]
    fn register_json_class_hook<H, Form>(
        hook_type: impl SelectHookType<Self>,
        options: impl Into<HookOptions>,
        hook: H,
    ) -> Result<(), RegistryError>
    where
        H: JsonHook<Form>,
    {
        let hook_type = hook_type.select()?;
        let class = TypeId::of::<Self>();
        let Some(point) = JsonPoint::of(class, hook_type.method()) else {
            return Err(no_json::<Self>(hook_type, NOT_JSON));
        };
        if !point.is_of(class) {
            let reason = "the method is of a trait: register the hook on `<dyn Trait>`";
            return Err(no_json::<Self>(hook_type, reason));
        }
        let registry = point.class().registry();
        point
            .register(registry, hook_type.phase(), options.into(), caller(), hook.into_json())
            .map_err(|reason| no_json::<Self>(hook_type, reason))
    }

    /// What will run at every hook type of this instance, in order; it prints as a table.
    #[must_use]
    fn hook_plan(&self) -> HookPlan {
        let (class, type_name) = self.__hooks_type();
        HookPlan::of(self.hooks(), class, type_name)
    }

    /// Returns a value that differs once the [plan](Self::hook_plan) of this instance may differ, for
    /// keeping what was read off a plan. It is cheap: two atomic loads.
    ///
    /// ```
    /// use hooks_core::{Hookable, Hooks, hookable};
    ///
    /// #[derive(Hookable, Default)]
    /// struct Greeter {
    ///     hooks: Hooks,
    /// }
    ///
    /// #[hookable]
    /// impl Greeter {
    ///     fn reply(&self, name: &str) -> String {
    ///         format!("Hello, {name}")
    ///     }
    /// }
    ///
    /// let greeter = Greeter::default();
    /// let before = greeter.hooks_version();
    /// assert_eq!(greeter.hooks_version(), before);
    /// greeter.register_instance_hook(Greeter::PRE_REPLY, "look", |_: &Greeter, _: &GreeterReplyArgs| {});
    /// assert_ne!(greeter.hooks_version(), before);
    /// ```
    #[must_use]
    fn hooks_version(&self) -> HooksVersion {
        HooksVersion::of(self.hooks())
    }
}

impl<A: ?Sized + HasHooks> Hookable for A {}

#[track_caller]
fn caller() -> Source {
    Source::from(Location::caller())
}

fn found_or_error<A: ?Sized>(
    found: bool,
    hook_type: HookType,
    name: &str,
    level: Level,
) -> Result<(), RegistryError> {
    if found {
        return Ok(());
    }
    let agent = short_name(type_name::<A>()).to_owned();
    Err(RegistryError::NotFound { hook: name.to_owned(), hook_type, agent, level })
}

#[cfg(feature = "json")]
const NOT_JSON: &str = "mark the block `#[hookable(json)]`; a generic type takes none";

#[cfg(feature = "json")]
fn no_json<A: ?Sized>(hook_type: HookType, reason: &'static str) -> RegistryError {
    RegistryError::NoJson { hook_type, agent: short_name(type_name::<A>()).to_owned(), reason }
}
