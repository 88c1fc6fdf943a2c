//! The `Agent` trait, and how agents are called.

mod call;
mod contract;
mod journaled;
pub(crate) mod linked;
mod settle;
mod shutdown;
mod state;
mod stored;

pub use call::AgentExt;
pub use contract::{
    Agent, AgentObserveArgs, AgentPrintArgs, AgentReplyArgs, AgentSettledArgs, CallOutcome,
};
pub(crate) use journaled::{journaled_memory, write_stored};
#[doc(hidden)]
pub use linked::LinkedAgentHook;
pub use state::AgentState;
pub(crate) use state::Printer;
