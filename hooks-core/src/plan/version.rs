//! Whether hooks have changed.

use crate::registry::hooks::Hooks;
use crate::registry::table::{Registry, class_changes};

/// The state of the hooks of an instance, as
/// [`hooks_version`](crate::Hookable::hooks_version) returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HooksVersion {
    instance: u64,
    class: u64,
}

impl HooksVersion {
    pub(crate) fn of(hooks: &Hooks) -> Self {
        let class = class_changes();
        Self { instance: hooks.get().map_or(0, Registry::version), class }
    }
}
