//! The order that hooks of a policy ask for.

use hooks_agent_core::hooks_core::OrderFault;
use hooks_agent_core::hooks_core::options::arrange;
use hooks_agent_core::text::near_name;

use crate::policy::merge::load::Entry;
use crate::policy::merge::merged::MergedHook;
use crate::policy::merge::said::File;

/// Reports hooks that cannot run in the order that they ask for.
pub(super) fn report_order(entries: &[Entry], files: &mut [File<'_>]) {
    let mut enabled: Vec<_> = entries.iter().filter(|entry| entry.table.is_enabled).collect();
    enabled.sort_by_key(|entry| entry.priority());
    let names: Vec<&str> = enabled.iter().map(|entry| entry.table.name.as_str()).collect();
    for Entry { file, table, .. } in &enabled {
        let missing = table.order.missing(|name| names.contains(&name));
        let Some((relation, name)) = missing else { continue };
        let near = near_name(name, names.iter().copied());
        let hint = near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
        let message = format!("no enabled hook of the policy is named `{name}`{hint}");
        let path = format!("{}.{relation}", table.path);
        files[*file].problems.add(table.starts.table, path, message);
    }
    let orders = enabled.iter().map(|entry| (entry.table.name.as_str(), Some(&entry.table.order)));
    let orders: Vec<_> = orders.collect();
    if let Err(OrderFault::Circle { hooks, .. }) = arrange(&orders)
        && let Some(entry) = enabled.iter().find(|entry| hooks.contains(&entry.table.name))
    {
        let Entry { file, table, .. } = entry;
        let message = OrderFault::circle(hooks).to_string();
        files[*file].problems.add(table.starts.table, table.path.clone(), message);
    }
}

/// Puts hooks in the order in which they run; they come by priority.
pub(super) fn in_order(hooks: Vec<MergedHook>) -> Vec<MergedHook> {
    let orders = hooks
        .iter()
        .map(|hook| (hook.name.as_str(), Some(&hook.order).filter(|_| hook.is_enabled)));
    let orders: Vec<_> = orders.collect();
    match arrange(&orders) {
        Ok(order) => order.into_iter().map(|index| hooks[index].clone()).collect(),
        Err(_) => hooks,
    }
}
