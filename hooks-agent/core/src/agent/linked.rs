//! Event hooks that the linker collects.

use std::cell::Cell;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An event hook of `#[agent_hook(class)]`.
#[doc(hidden)]
#[derive(Debug)]
pub struct LinkedAgentHook {
    /// The module and the line of the attribute, for the order of registration.
    pub place: (&'static str, u32),
    /// Registers the hook.
    pub install: fn(),
}

inventory::collect!(LinkedAgentHook);

/// Registers the hooks that the linker collected, once in a process, in the order of their modules
/// and lines. If a hook panics here, the next caller tries it again, so no agent is created
/// without it.
pub(crate) fn install_linked() {
    static INSTALLED: Once = Once::new();
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    // The default of a hook may create an agent.
    if INSTALLED.is_completed() || IS_INSTALLING.get() {
        return;
    }
    INSTALLED.call_once_force(|_| {
        let _installing = Installing::begin();
        let mut linked: Vec<_> = inventory::iter::<LinkedAgentHook>.into_iter().collect();
        linked.sort_by_key(|hook| hook.place);
        for hook in &linked[COUNT.load(Ordering::Relaxed)..] {
            (hook.install)();
            COUNT.fetch_add(1, Ordering::Relaxed);
        }
    });
}

thread_local! {
    static IS_INSTALLING: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread until dropped.
struct Installing;

impl Installing {
    fn begin() -> Self {
        IS_INSTALLING.set(true);
        Self
    }
}

impl Drop for Installing {
    fn drop(&mut self) {
        IS_INSTALLING.set(false);
    }
}
