//! Hooks on the methods of any type.

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod answer;
mod bind;
mod chain;
mod class;
mod dispatch;
mod error;
mod flow;
mod form;
mod guard;
mod hook;
mod hook_type;
mod hookable;
mod plan;
mod point;
mod registry;

pub use answer::{PostAnswer, PreAnswer};
pub use error::{BoxError, HookError, HookResult};
pub use flow::Flow;
pub use form::IntoHook;
pub use hook::BoxFuture;
pub use hook_type::{HookType, Level, Phase};
pub use hookable::{Hook, Hookable, SelectHookType};
pub use hooks_macros::{Hookable, class_hook, hook, hookable};
pub use plan::{HookPlan, PlannedHook};
pub use point::{HookPoint, Post, Pre};
pub use registry::Hooks;
