//! The hook of a studio: copies what happens into the ring, as the hooks before it left it.

mod draft;
mod entry;
mod failure;
mod order;
mod orders;
mod other_hooks;
mod recorder;
mod run;
mod see;
mod studio_hook;
mod watcher;

pub(super) use other_hooks::changes::role_name;
pub use studio_hook::StudioHook;
