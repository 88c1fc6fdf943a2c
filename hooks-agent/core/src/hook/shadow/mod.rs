//! Hooks in shadow: they run beside the calls of an agent, and change nothing there.
//!
//! A call copies what its hooks in shadow see into a bounded queue for each of them and goes on; a task takes it
//! from there, runs the hook on the copy, and counts what it would have done.

mod around;
mod counts;
mod executor;
mod part;
mod shadowed;
mod stand_in;
mod undone;
mod work;

pub(crate) use around::ToolOfCall;
pub use counts::ShadowCounts;
pub use executor::Shadow;
pub use part::ShadowPart;
pub use shadowed::Shadowed;
