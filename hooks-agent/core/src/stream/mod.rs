//! A call as a stream of its events.

mod agent_stream;

pub use crate::call::stream::{AgentEvent, AgentEventKind, Behind};
pub(crate) use crate::call::stream::{EventReceiver, EventSink, event_queue};
pub use agent_stream::AgentStream;
