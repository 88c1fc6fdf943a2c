//! Says where the hooks of a call cannot run in the order that they ask for.

use std::ops::Range;
use std::sync::Arc;

use crate::hook_order::{OrderFault, Relation};
use crate::hook_type::HookType;
use crate::registry::list::Lists;
use crate::registry::registration::Registration;

/// What the hooks of one point on one level ask for.
pub(crate) struct Ordered {
    /// The hooks that ask for something.
    hooks: Vec<Arc<Registration>>,
    /// What is wrong among themselves.
    circles: Vec<(HookType, OrderFault)>,
}

impl Ordered {
    /// What these hooks ask for, if they ask for anything; `circles` is what is wrong among themselves.
    pub(crate) fn of(
        hooks: impl Iterator<Item = Arc<Registration>>,
        circles: Vec<(HookType, OrderFault)>,
    ) -> Option<Arc<Self>> {
        let hooks: Vec<_> = hooks.filter(|hook| hook.order.is_some()).collect();
        (!hooks.is_empty()).then(|| Arc::new(Self { hooks, circles }))
    }
}

/// Why the hooks of a call cannot run. The groups are in the order in which they run.
#[cold]
pub(crate) fn fault(groups: [Option<&Lists>; 4]) -> Option<(HookType, OrderFault)> {
    for (group, lists) in groups.iter().enumerate() {
        let Some(ordered) = lists.and_then(Lists::ordered) else { continue };
        let must = |hook: &Registration| hook.order.as_ref().is_some_and(|it| !it.is_wish());
        let circle = ordered.circles.iter().find(|(hook_type, _)| {
            ordered.hooks.iter().any(|hook| hook.hook_type == *hook_type && must(hook))
        });
        if let Some(circle) = circle {
            return Some(circle.clone());
        }
        for hook in ordered.hooks.iter().filter(|hook| must(hook)) {
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
    if let Some(fault) = order.known_fault() {
        return Some(fault.clone());
    }
    let is_in = |mut groups: Range<usize>, name: &str| groups.any(|group| has(group, name));
    let is_behind = |(relation, name): &(Relation, &str)| match relation {
        Relation::Before => is_in(0..group, name),
        Relation::After => is_in(group + 1..groups, name),
        Relation::Requires => false,
    };
    let owned = |name: &str| (hook.name.to_string(), name.to_owned());
    if let Some((relation, name)) = order.relations().find(is_behind) {
        let (hook, name) = owned(name);
        return Some(OrderFault::Level { hook, relation, name });
    }
    let (relation, name) = order.missing(|name| is_in(0..groups, name))?;
    let (hook, name) = owned(name);
    Some(OrderFault::Missing { hook, relation, name })
}
