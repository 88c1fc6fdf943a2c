//! The hook of a studio: copies what happens into the ring, as the hooks before it left it.

mod attempts;
mod draft;
mod order;
mod orders;
mod other_hooks;
mod recorder;
mod run;
mod see;
mod studio_hook;
mod watcher;

pub(super) use order::is_unredacted;
pub(super) use other_hooks::changes::role_name;
pub use studio_hook::StudioHook;
