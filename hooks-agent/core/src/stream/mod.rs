//! A call as a stream of its events.

mod agent_stream;

pub use crate::call::stream::{AgentEvent, AgentEventKind, Behind};
pub use agent_stream::AgentStream;
