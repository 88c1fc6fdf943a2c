//! The events of a call, and the queue in which they wait to be read.

mod event;
mod queue;

pub use event::{AgentEvent, AgentEventKind, Behind};
pub(crate) use queue::{EventReceiver, EventSink, event_queue};
