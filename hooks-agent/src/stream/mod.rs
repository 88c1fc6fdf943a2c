//! A call as a stream of its events.

mod agent_stream;
mod event;
mod queue;

pub use agent_stream::AgentStream;
pub use event::{AgentEvent, AgentEventKind, Behind};
pub(crate) use queue::{EventReceiver, EventSink, event_queue};
