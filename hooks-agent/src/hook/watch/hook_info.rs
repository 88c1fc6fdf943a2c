//! What a watcher reads of a hook.

use std::sync::Arc;

use hooks_core::{HookGroup, HookRole, Level};

use crate::hook::Registration;

/// What a watcher reads of a hook.
pub(super) struct HookInfo {
    pub(super) name: Arc<str>,
    pub(super) group: HookGroup,
    pub(super) level: Level,
    pub(super) priority: i32,
    pub(super) role: Option<HookRole>,
}

impl HookInfo {
    pub(super) fn of(registration: &Registration, level: Level) -> Self {
        Self {
            name: registration.name.clone(),
            group: registration.group,
            level,
            priority: registration.priority,
            role: registration.role,
        }
    }
}
