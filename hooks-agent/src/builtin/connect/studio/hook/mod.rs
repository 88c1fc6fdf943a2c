//! The hook of a studio: copies what happens into the ring, as the hooks before it left it.

mod body;
mod changes;
mod content;
mod data;
mod draft;
mod order;
mod orders;
mod pending;
mod recorder;
mod run;
mod see;
mod sizes;
mod studio_hook;
mod values;
mod watcher;

pub(super) use changes::role_name;
pub use studio_hook::StudioHook;
