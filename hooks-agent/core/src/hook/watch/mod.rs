//! Observes the runs of event hooks, for hooks that show or count them.
//!
//! `installed` runs each event hook; if the call has watchers, it compares the event before and
//! after and tells them.

mod around;
mod changes;
mod content;
mod hook_info;
mod hook_run;
mod installed;
mod part;
mod watchers;

pub(crate) use around::{AroundRun, NoteInside};
pub use changes::HookChange;
pub(crate) use content::Content;
pub(crate) use hook_info::HookInfo;
pub use hook_run::{HookFlow, HookRun, HookWatcher};
pub(crate) use installed::{Installed, flow_of};
pub use part::HookPart;
pub(crate) use watchers::{CallWatchers, tell_watchers};
