//! The class level: one table per hooked method, fed by the linker and at run time.

use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::hook_type::HookType;
use crate::registry::table::Registry;

/// The class hooks of one hooked method; each expansion declares one as a `static`.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct ClassHooks {
    registry: OnceLock<Registry>,
}

impl ClassHooks {
    #[must_use]
    pub const fn new() -> Self {
        Self { registry: OnceLock::new() }
    }

    /// The table; at the first use it takes in each `#[class_hook]` of the program.
    #[inline]
    pub(crate) fn registry(&'static self) -> &'static Registry {
        match self.registry.get() {
            Some(registry) => registry,
            None => self.load(),
        }
    }

    #[cold]
    fn load(&'static self) -> &'static Registry {
        self.registry.get_or_init(|| {
            // Before anyone can register here, so that nobody looks for this table in vain.
            known().push(self);
            let registry = Registry::of_class();
            let linked = inventory::iter::<LinkedHook>.into_iter();
            let mut linked: Vec<_> = linked.filter(|hook| ptr::eq((hook.class)(), self)).collect();
            // Priorities are applied at insertion; here only ties are put in order.
            linked.sort_by_key(|hook| (hook.module, hook.line, hook.function));
            for hook in linked {
                (hook.install)(&registry);
            }
            registry
        })
    }
}

/// A class hook that the linker collects: what `#[class_hook]` submits.
#[derive(Debug)]
#[doc(hidden)]
pub struct LinkedHook {
    pub module: &'static str,
    pub line: u32,
    /// Tells apart what a macro put on one line.
    pub function: &'static str,
    pub file: &'static str,
    pub name: &'static str,
    pub priority: i32,
    /// The type name of the agent, and the hook type.
    pub hook_type: fn() -> (&'static str, HookType),
    pub class: fn() -> &'static ClassHooks,
    pub install: fn(&Registry),
}

inventory::collect!(LinkedHook);

/// Every class table that exists or that the linker has hooks for.
pub(crate) fn class_tables() -> Vec<&'static ClassHooks> {
    for hook in inventory::iter::<LinkedHook> {
        (hook.class)().registry();
    }
    known().clone()
}

fn known() -> std::sync::MutexGuard<'static, Vec<&'static ClassHooks>> {
    static KNOWN: Mutex<Vec<&'static ClassHooks>> = Mutex::new(Vec::new());
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}
