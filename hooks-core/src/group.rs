//! Hooks that belong together.

use std::sync::atomic::{AtomicU64, Ordering};

/// A group of hooks: registered one by one, removed together.
///
/// Names are unique within a group: a hook of a group and a hook of the same name outside of it
/// exist side by side. [`remove_instance_group`](crate::Hookable::remove_instance_group),
/// [`remove_class_group`](crate::Hookable::remove_class_group) and the methods that clear remove hooks of a group; removal by name does not. For a library that
/// registers several hooks on behalf of one value.
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
/// let greeter = Greeter::default();
/// let group = HookGroup::new("polite");
/// let options = || HookOptions::named("polite").group(group);
/// let dear = |_: &Greeter, args: &mut GreeterReplyArgs| args.name.insert_str(0, "dear ");
/// let bow = |_: &Greeter, _: &GreeterReplyArgs, reply: &mut String| reply.push_str(" (bows)");
/// greeter.register_instance_hook(Greeter::PRE_REPLY, options(), dear);
/// greeter.register_instance_hook(Greeter::POST_REPLY, options(), bow);
/// assert_eq!(greeter.reply("Ada"), "Hello, dear Ada (bows)");
///
/// assert!(greeter.remove_instance_hook(Greeter::PRE_REPLY, "polite").is_err());
/// assert_eq!(greeter.remove_instance_group(group), 2);
/// assert_eq!(greeter.reply("Ada"), "Hello, Ada");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HookGroup {
    id: u64,
    label: &'static str,
}

impl HookGroup {
    /// Creates a group. The label says what its hooks are; two groups of one label are different
    /// groups.
    #[must_use]
    pub fn new(label: &'static str) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { id: NEXT.fetch_add(1, Ordering::Relaxed), label }
    }

    /// Returns the label.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        self.label
    }
}
