//! Event hooks: the trait, hooks of general use, and how hooks become hooks of an agent's methods.

mod agent_hook;
mod apply;
mod blocking;
mod hook_list;
pub mod priority;
mod register;
mod registration;
mod rewrite;

pub use agent_hook::AgentHook;
pub(crate) use apply::{
    answered, contained, contained_now, message_of, named, no_flow, recover, report, result_of,
    settle_now, was_reported,
};
pub use blocking::Blocking;
pub(crate) use hook_list::{HookList, SharedHooks};
pub(crate) use register::{
    install_call, install_error, install_look, install_one, install_post, install_pre,
};
pub(crate) use registration::{EventPoints, Registration, not_found, remove_by_name};
pub use registration::{register_call_hook, remove_call_hook};
pub use rewrite::{Finding, Rewrite};
