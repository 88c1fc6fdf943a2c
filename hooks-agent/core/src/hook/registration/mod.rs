//! Registration of event hooks as hooks of an agent's methods.
//!
//! `install` registers a hook at each method of its events, at one agent or at all of a type
//! (`target`, `class`); `apply` applies the flow that it returns. `hook_list` keeps the hooks of an
//! agent; `settings` checks what they refer to.

mod apply;
mod class;
mod entry;
mod hook_list;
mod install;
mod settings;
mod target;

#[cfg(feature = "testing")]
pub(crate) use apply::WAITS_AT_SETTLED;
pub(crate) use apply::{
    answered, contained, contained_now, message_of, no_flow, recover, report, result_of,
    settle_now, was_reported,
};
pub use class::link;
pub(crate) use class::{
    class_hook_changes, class_hooks_ask, has_class_hook, login_of_class, lost_of_class,
    missing_of_class, register_class, remove_class, warn_of_class, watch_class,
};
pub(crate) use entry::{
    EventPoints, Registration, Scope, Site, new_group, not_found, remove_by_name,
};
pub(crate) use hook_list::{HookList, SharedHooks};
pub(crate) use install::{
    install_call, install_error, install_look, install_one, install_post, install_pre,
};
pub(crate) use target::{Instance, Target, level_of};
