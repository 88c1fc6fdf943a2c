//! The `Agent` trait, and how agents are called.

mod call;
mod contract;
mod state;
mod turns;

pub use call::AgentExt;
pub use contract::{
    Agent, AgentObserveArgs, AgentPrintArgs, AgentReplyArgs, AgentSettledArgs, CallOutcome,
};
pub use state::AgentState;
pub(crate) use state::Printer;
