//! Options of hooks that a crate offers to all policies.

use std::fmt;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::hook::{DynAgentHook, priority};
use crate::options::error::OptionError;
use crate::options::factory::{Factory, FromOptions};

/// Options of a hook that policy files may use, for a crate that publishes hooks.
///
/// A program registers its own hooks by
/// [`PolicyBuilder::register`] instead. A published one is collected by the linker:
///
/// [`PolicyBuilder::register`]: https://docs.rs/hooks-agent/latest/hooks_agent/policy/struct.PolicyBuilder.html#method.register
///
/// ```
/// use hooks_agent::hook::DynAgentHook;
/// use hooks_agent::policy::{HookOptions, OptionError, RegisteredHook};
/// use hooks_agent::prelude::*;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct DisclaimerOptions {
///     /// What replies end with.
///     text: String,
/// }
///
/// impl HookOptions for DisclaimerOptions {
///     const USE: &'static str = "disclaimer";
///
///     fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
///         Ok(Box::new(on(move |event: &mut PostCall<'_>| {
///             event.final_message_mut().push_text(&self.text);
///         })))
///     }
/// }
///
/// inventory::submit!(RegisteredHook::of::<DisclaimerOptions>());
/// ```
pub trait HookOptions: DeserializeOwned + JsonSchema + 'static {
    /// The name that files `use`.
    const USE: &'static str;

    /// Whether making the hook opens files. Such a hook is made when nothing else is wrong, and a
    /// check only reads its options.
    const OPENS_FILES: bool = false;

    /// The priority of a hook that [opens files](Self::OPENS_FILES), which a check shows.
    const PRIORITY: i32 = priority::DEFAULT;

    /// Returns the name under which the hook keeps counts with threads, if it does. Two entries of one name
    /// would count for each other, so they are an error.
    fn counter(&self) -> Option<String> {
        None
    }

    /// Makes the hook.
    ///
    /// # Errors
    /// [`OptionError`], at one of the options where possible. A panic counts as an error.
    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError>;
}

/// A hook that the linker collects for all policies.
pub struct RegisteredHook {
    uses: &'static str,
    factory: fn() -> Box<dyn Factory>,
}

impl RegisteredHook {
    /// Offers the hook of these options.
    #[must_use]
    pub const fn of<O: HookOptions>() -> Self {
        Self { uses: O::USE, factory: FromOptions::<O>::boxed }
    }

    /// Returns the name that files `use`.
    #[must_use]
    pub fn uses(&self) -> &'static str {
        self.uses
    }

    /// Returns what reads the options and makes the hook.
    #[must_use]
    pub fn factory(&self) -> Box<dyn Factory> {
        (self.factory)()
    }
}

impl fmt::Debug for RegisteredHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisteredHook").field("use", &self.uses).finish_non_exhaustive()
    }
}

inventory::collect!(RegisteredHook);

/// Applies an option to a builder if it is there, for [`HookOptions::into_hook`].
///
/// ```
/// use hooks_agent::policy::set;
///
/// let text = |text: String, end: char| format!("{text}{end}");
/// assert_eq!(set("hello".to_owned(), Some('!'), text), "hello!");
/// assert_eq!(set("hello".to_owned(), None, text), "hello");
/// ```
pub fn set<H, T>(hook: H, option: Option<T>, set: impl FnOnce(H, T) -> H) -> H {
    match option {
        Some(value) => set(hook, value),
        None => hook,
    }
}
