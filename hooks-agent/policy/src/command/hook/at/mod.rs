//! Handlers of the steps of a call. A handler runs the commands of its events in the order of the
//! list, and applies each decision before the next event.

mod call;
mod compression;
mod end;
mod permission;
mod reasoning;
mod summary;
mod tool;
