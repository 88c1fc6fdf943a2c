//! The class level: one table per hooked method, fed by the linker and at run time.

use std::any::TypeId;
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::hook_type::{HookType, Phase};
use crate::registry::Registry;

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

    /// The table; at the first use it takes in the hooks that the linker brought.
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
            let registry = Registry::default();
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

/// The hooked methods of one `#[hookable]` block.
#[derive(Debug)]
#[doc(hidden)]
pub struct HookedMethods {
    /// The type; `None` for a generic one, which has no single identity.
    pub agent: Option<fn() -> TypeId>,
    /// The trait, as `dyn Trait`, that the block implements.
    pub base: Option<fn() -> TypeId>,
    pub module: &'static str,
    pub ident: &'static str,
    pub methods: &'static [HookedMethod],
}

/// A hooked method: its name, and whether it has around hooks and error hooks.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct HookedMethod {
    pub name: &'static str,
    pub around: bool,
    pub error: bool,
}

impl HookedMethod {
    /// Its hook types, in the order of a call.
    pub(crate) fn types(self) -> impl Iterator<Item = HookType> {
        let has = move |phase: &Phase| match phase {
            Phase::Around => self.around,
            Phase::Error => self.error,
            Phase::Pre | Phase::Post | Phase::Settled => true,
        };
        Phase::ALL.into_iter().filter(has).map(move |phase| HookType::new(phase, self.name))
    }
}

inventory::collect!(HookedMethods);

/// The hooked methods of a type, in the order of the source.
pub(crate) fn methods_of(agent: TypeId, type_name: &str) -> Vec<HookedMethod> {
    blocks_of(agent, type_name).flat_map(|block| block.methods).copied().collect()
}

/// The hookable traits that a type implements, as `dyn Trait`.
pub(crate) fn bases_of(agent: TypeId, type_name: &str) -> Vec<TypeId> {
    blocks_of(agent, type_name).filter_map(|block| block.base).map(|base| base()).collect()
}

fn blocks_of(agent: TypeId, type_name: &str) -> impl Iterator<Item = &'static HookedMethods> {
    let (path, ident) = split_type_name(type_name);
    let blocks = inventory::iter::<HookedMethods>.into_iter();
    blocks.filter(move |block| match block.agent {
        Some(known) => known() == agent,
        None => block.ident == ident && crate_of(block.module) == crate_of(path),
    })
}

/// The name of a type without its path and its generic arguments.
pub(crate) fn short_name(type_name: &str) -> &str {
    split_type_name(type_name).1
}

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

// Input:  `my_crate::agents::Assistant<alloc::string::String>`
// Output: `my_crate::agents` and `Assistant`
fn split_type_name(type_name: &str) -> (&str, &str) {
    let plain = type_name.split('<').next().unwrap_or(type_name);
    plain.rsplit_once("::").unwrap_or(("", plain))
}

fn crate_of(path: &str) -> &str {
    path.split("::").next().unwrap_or(path)
}
