//! Tests of hooks, tools and agents, without a network and without a particular runtime.

mod calls;
mod diff;
mod history;
mod probe;
mod recorder;
mod script;
mod seen;

pub use calls::Calls;
pub use history::check_history;
pub use probe::{
    AroundModel, AroundTool, CallInput, ModelRequest, NotInterested, Probe, ToolRequest,
};
pub use recorder::{Record, Recorder};
pub use script::Script;
pub use seen::{Failure, Seen, SeenFlow};
