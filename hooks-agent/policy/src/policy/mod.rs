//! Hooks and limits from files that operators write: layers, checks with places, reload while calls
//! run. [The guide] is about the files.
//!
//! [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/policy/index.html

mod builder;
mod commands;
mod duration;
mod error;
mod file;
mod hook_source;
mod merge;
mod options;
mod registry;
mod reload;
mod version;

pub use crate::command::Layer;
pub use builder::PolicyBuilder;
pub use duration::OptionDuration;
pub use error::{Place, PolicyError, PolicyErrors};
pub use file::PolicyFile;
pub use hook_source::Policy;
pub use merge::{Merged, MergedCommand, MergedHook};
pub use options::OptionError;
pub use registry::{HookOptions, RegisteredHook, schema, set};
pub use reload::{PolicyEvent, PolicyEvents, PolicyWatcher, Reloaded, WatchError};
