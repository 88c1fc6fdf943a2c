//! Plans of calls: the hooks of an instance and of its classes, in order.

pub(crate) mod hook_plan;
pub(crate) mod select;
#[cfg(feature = "serde")]
mod serialize;
pub(crate) mod version;
mod warning;

pub use hook_plan::{HookPlan, PlannedHook};
pub use select::SelectHookType;
pub use version::HooksVersion;
pub use warning::PlanWarning;
