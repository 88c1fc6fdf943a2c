//! One hook against one event, or around one call: the call of the hook, its events, and what the
//! hook does in them.

mod around;
mod call;
mod events;
mod exchange;
mod failure;
mod logs;
mod watch;

pub use around::{AroundModel, AroundTool, ModelRequest, ToolRequest};
pub use call::{NotInterested, Probe};
pub use events::CallInput;

/// The name of the model in the events of a probe.
const MODEL: &str = "probe";
