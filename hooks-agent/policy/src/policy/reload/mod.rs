//! Reloads of files that change: the events, and the watcher that causes them.

mod event;
mod watcher;

pub(super) use event::EventSender;
pub use event::{PolicyEvent, PolicyEvents, Reloaded};
pub use watcher::{PolicyWatcher, WatchError};
