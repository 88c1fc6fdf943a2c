//! The description of a hook: name, group, level, priority, role and owner.

use std::sync::Arc;

use hooks_core::{HookGroup, HookRole, Level};

use crate::call::HookOwner;
use crate::hook::registration::Registration;

/// What is known of a hook wherever it is registered.
pub(crate) struct HookInfo {
    pub(crate) name: Arc<str>,
    /// By which name it asks: a hook that an agent inherits is another one than its own of the name.
    pub(crate) asks_as: Arc<str>,
    pub(crate) group: HookGroup,
    pub(crate) level: Level,
    pub(crate) priority: i32,
    pub(crate) role: Option<HookRole>,
    /// The name of the thread value in which it counts.
    pub(crate) counter: Option<Arc<str>>,
    /// Whose hook it is, if not that of the agent where it runs.
    pub(crate) owner: Option<Arc<HookOwner>>,
}

impl HookInfo {
    pub(crate) fn of(registration: &Registration, level: Level) -> Self {
        Self {
            name: registration.name.clone(),
            asks_as: match &registration.inherited_from {
                Some(agent) => format!("{} of {agent}", registration.name).into(),
                None => registration.name.clone(),
            },
            group: registration.group,
            level,
            priority: registration.priority,
            role: registration.role,
            counter: registration.counter.clone(),
            owner: if level == Level::Class {
                Some(Arc::new(HookOwner::Class))
            } else {
                registration.owner.clone()
            },
        }
    }
}
