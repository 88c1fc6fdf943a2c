//! The hook of a studio: copies what happens into the ring, as the hooks before it left it.

mod body;
mod changes;
mod content;
mod draft;
mod hook;
mod order;
mod pending;
mod recorder;
mod run;
mod see;
mod values;
mod watcher;

pub(super) use changes::role_name;
pub use hook::StudioHook;
