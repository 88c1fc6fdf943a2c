//! The context, the options and the stream events of a call.

mod call;
mod event_queue;
mod options;
mod run_id;
mod stream_event;
mod values;

pub use call::CallContext;
pub(crate) use event_queue::{EventReceiver, EventSink, event_queue};
pub use options::CallOptions;
pub use run_id::RunId;
pub use stream_event::{AgentEvent, AgentEventKind};
