//! The options of a hook: name, priority, group, role, limits, and the policy for its failure.

pub(crate) mod hook_options;
pub(crate) mod policy;
