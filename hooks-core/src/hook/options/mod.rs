//! What a hook is registered with besides its code: name, priority, group, role, limits, and what
//! happens when it fails.

pub(crate) mod hook_options;
pub(crate) mod policy;
