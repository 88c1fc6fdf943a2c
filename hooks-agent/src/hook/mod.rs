//! Event hooks: the trait, hooks of general use, and how hooks become hooks of an agent's methods.

mod agent_hook;
mod apply;
mod blocking;
mod hook_list;
pub mod priority;
mod register;
mod rewrite;

pub use agent_hook::AgentHook;
pub(crate) use apply::{
    answered, contained, contained_now, message_of, no_flow, recover, report, result_of, settle_now,
};
pub use blocking::Blocking;
pub use hook_list::register_call_hook;
pub(crate) use hook_list::{EventPoints, HookList, Place};
pub(crate) use register::{
    install_call, install_error, install_look, install_one, install_post, install_pre,
};
pub use rewrite::{Finding, Rewrite};
