//! The class hooks that `#[class_hook]` declares.

use std::fmt;

use crate::hook_type::HookType;
use crate::registry::class::LinkedHook;
use crate::registry::type_name::short_name;

/// A class hook that the linker collected.
#[derive(Clone, Debug)]
pub struct LinkedClassHook {
    agent: &'static str,
    hook_type: HookType,
    linked: &'static LinkedHook,
}

impl LinkedClassHook {
    /// The type that it is a hook of, without its path.
    #[must_use]
    pub fn agent(&self) -> &str {
        short_name(self.agent)
    }

    /// Where in a call it runs.
    #[must_use]
    pub fn hook_type(&self) -> &HookType {
        &self.hook_type
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.linked.name
    }

    /// Its priority.
    #[must_use]
    pub fn priority(&self) -> i32 {
        self.linked.priority
    }

    /// The module that declares it.
    #[must_use]
    pub fn module(&self) -> &str {
        self.linked.module
    }

    /// The source line that declares it, as `file:line`.
    #[must_use]
    pub fn registered_at(&self) -> String {
        format!("{}:{}", self.linked.file, self.linked.line)
    }
}

impl fmt::Display for LinkedClassHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (agent, hook_type, name) = (self.agent(), self.hook_type(), self.name());
        write!(f, "{agent} {hook_type} {name} ({})", self.registered_at())
    }
}

/// The class hooks that the linker collected from every crate that is part of this program, by agent,
/// hook type, and the order in which they run.
///
/// One that is missing is in a crate that nobody names: `use the_crate as _;` links it. Hooks that
/// were removed at run time are listed too; [`hook_plan`](crate::Hookable::hook_plan) says what runs.
///
/// ```
/// use hooks_core::{Hookable, Hooks, class_hook, hookable};
///
/// #[derive(Hookable, Default)]
/// struct Greeter {
///     hooks: Hooks,
/// }
///
/// #[hookable]
/// impl Greeter {
///     fn reply(&self) {}
/// }
///
/// #[class_hook(Greeter::PRE_REPLY, name = "count")]
/// fn count(_: &Greeter, _: &GreeterReplyArgs) {}
///
/// let linked = hooks_core::class_hooks();
/// let count = linked.iter().find(|hook| hook.name() == "count").expect("it is in this program");
/// assert_eq!((count.agent(), count.hook_type().to_string()), ("Greeter", "pre_reply".to_owned()));
/// ```
#[must_use]
pub fn class_hooks() -> Vec<LinkedClassHook> {
    let linked = inventory::iter::<LinkedHook>.into_iter();
    let mut hooks: Vec<_> = linked
        .map(|linked| {
            let (agent, hook_type) = (linked.hook_type)();
            LinkedClassHook { agent, hook_type, linked }
        })
        .collect();
    hooks.sort_by(|left, right| {
        let key = |hook: &LinkedClassHook| {
            let LinkedHook { priority, module, line, function, .. } = hook.linked;
            let hook_type = (hook.hook_type.method().to_owned(), hook.hook_type.phase());
            (hook.agent, hook_type, *priority, *module, *line, *function)
        };
        key(left).cmp(&key(right))
    });
    hooks
}
