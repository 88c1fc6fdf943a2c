//! The `Agent` trait, and how agents are called.

mod call;
mod contract;
mod journaled;
mod kept;
pub(crate) mod linked;
mod settle;
mod shutdown;
mod state;

pub use call::AgentExt;
pub use contract::{
    Agent, AgentObserveArgs, AgentPrintArgs, AgentReplyArgs, AgentSettledArgs, CallOutcome,
};
pub(crate) use journaled::write_stored;
pub(crate) use kept::memory_below;
#[doc(hidden)]
pub use linked::LinkedAgentHook;
pub use state::AgentState;
pub(crate) use state::Printer;
