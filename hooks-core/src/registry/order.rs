//! Says where the hooks of a call cannot run in the order that they ask for.

use std::sync::Arc;

use crate::hook_order::{OrderFault, Relation};
use crate::hook_type::HookType;
use crate::registry::list::Lists;
use crate::registry::registration::Registration;

/// What the hooks of one point on one level ask for.
pub(crate) struct Ordered {
    /// The hooks that ask for something.
    hooks: Vec<Arc<Registration>>,
    circle: Option<(HookType, OrderFault)>,
}

impl Ordered {
    /// What these hooks ask for, if they ask for anything; `circle` is what is wrong among themselves.
    pub(crate) fn of(
        hooks: impl Iterator<Item = Arc<Registration>>,
        circle: Option<(HookType, OrderFault)>,
    ) -> Option<Arc<Self>> {
        let hooks: Vec<_> = hooks.filter(|hook| hook.order.is_some()).collect();
        (!hooks.is_empty()).then(|| Arc::new(Self { hooks, circle }))
    }
}

/// Why the hooks of a call cannot run. The groups are in the order in which they run.
#[cold]
pub(crate) fn fault(groups: [Option<&Lists>; 4]) -> Option<(HookType, OrderFault)> {
    for (group, lists) in groups.iter().enumerate() {
        let Some(ordered) = lists.and_then(Lists::ordered) else { continue };
        if let Some((hook_type, fault)) = &ordered.circle {
            return Some((hook_type.clone(), fault.clone()));
        }
        for hook in &ordered.hooks {
            let phase = hook.hook_type.phase();
            let has = |group: usize, name: &str| {
                groups[group].is_some_and(|lists| lists.of(phase).has(name))
            };
            if let Some(fault) = fault_of(hook, group, groups.len(), has) {
                return Some((hook.hook_type.clone(), fault));
            }
        }
    }
    None
}

/// Why a hook of one of the groups cannot run where it asks to, as far as the groups decide.
pub(crate) fn fault_of(
    hook: &Registration,
    group: usize,
    groups: usize,
    has: impl Fn(usize, &str) -> bool,
) -> Option<OrderFault> {
    let order = hook.order.as_deref()?;
    order.relations().find_map(|(relation, name)| {
        let (hook, name) = (hook.name.to_string(), name.to_owned());
        let is_in = |mut groups: std::ops::Range<usize>| groups.any(|group| has(group, &name));
        let is_behind = match relation {
            Relation::Before => is_in(0..group),
            Relation::After => is_in(group + 1..groups),
            Relation::Requires => false,
        };
        if is_behind {
            return Some(OrderFault::Level { hook, relation, name });
        }
        let is_missing = !order.is_lenient() && !is_in(0..groups);
        is_missing.then_some(OrderFault::Missing { hook, relation, name })
    })
}
