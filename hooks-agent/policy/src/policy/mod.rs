//! Hooks and limits from files that operators write: layers, checks with places, reload while calls
//! run. [The guide] is about the files.
//!
//! [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/policy/index.html

mod builder;
mod command_run;
mod commands;
mod error;
mod file;
mod hook_source;
mod merge;
mod registry;
mod reload;
mod version;

pub use crate::command::Layer;
pub use builder::PolicyBuilder;
pub use error::{Place, PolicyError, PolicyErrors};
pub use file::PolicyFile;
pub use hook_source::Policy;
pub use hooks_agent_core::options::{
    HookOptions, OptionDuration, OptionError, RegisteredHook, set,
};
pub use merge::{Merged, MergedCommand, MergedHook, MergedQuota, MergedRule};
pub use registry::schema;
pub use reload::{PolicyEvent, PolicyEvents, PolicyWatcher, Reloaded, WatchError};
