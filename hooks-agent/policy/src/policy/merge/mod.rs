//! The files of all layers as one policy: names, limits, and the hooks that are made of it.

mod commands;
mod limits;
mod load;
mod made;
mod merged;
mod order;
mod origin;
mod quotas;
mod rules;
mod said;
mod values;

pub(super) use commands::{CommandSetup, MadeCommands};
pub(super) use limits::MadeLimits;
pub(super) use load::{Load, Loaded};
pub(super) use made::MadeHook;
pub use merged::{Merged, MergedCommand, MergedHook};
pub use quotas::MergedQuota;
pub use rules::MergedRule;
