//! Event hooks: the trait, hooks of general use, and how hooks become hooks of an agent's methods.

mod agent_hook;
mod around;
mod blocking;
mod boxed;
mod call_hooks;
mod closure;
mod forward;
mod hook_model;
mod parallel;
mod placed;
pub mod priority;
mod registration;
mod rewrite;
mod shadow;
mod watch;

pub use crate::error::TextBlocked;
pub use agent_hook::{AgentHook, PlanCheck, ToolLabels};
pub use around::{
    AgentCall, AroundMask, Compression, ModelAttempt, ModelCall, NextAttempt, NextCall,
    NextCompression, NextModel, NextPermission, NextTool, PermissionCheck, ToolCall,
};
pub(crate) use around::{Inner, InnerCall, InnerModelCall, MapEvent};
pub use blocking::Blocking;
pub use boxed::DynAgentHook;
pub use call_hooks::CallHooks;
#[doc(hidden)]
pub use closure::bind;
pub use closure::{OnEvent, on};
pub use hook_model::{HookModel, HookModelError};
pub use placed::{AgentHookExt, Placed};
#[cfg(feature = "testing")]
pub(crate) use registration::WAITS_AT_SETTLED;
#[doc(hidden)]
pub use registration::link;
pub(crate) use registration::{
    EventPoints, HookList, Registration, Scope, SharedHooks, Site, Target, answered,
    class_hook_changes, class_hooks_ask, contained, contained_now, has_class_hook, install_call,
    install_error, install_look, install_one, install_post, install_pre, level_of, login_of_class,
    lost_of_class, message_of, missing_of_class, no_flow, not_found, recover, register_class,
    remove_by_name, remove_class, report, result_of, settle_now, warn_of_class, was_reported,
    watch_class,
};
pub use rewrite::Rewrite;
#[doc(hidden)]
pub use shadow::Shadow;
pub(crate) use shadow::ToolOfCall;
pub use shadow::{ShadowCounts, ShadowPart, Shadowed};
pub(crate) use watch::{AroundRun, CallWatchers, Installed, NoteInside};
pub use watch::{HookChange, HookFlow, HookPart, HookRun, HookWatcher};
