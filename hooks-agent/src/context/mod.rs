//! What a call of an agent carries along.

mod call;
mod options;
mod run_id;
mod stream_event;
mod values;

pub use call::CallContext;
pub use options::CallOptions;
pub use run_id::RunId;
pub(crate) use stream_event::EventSink;
pub use stream_event::{AgentEvent, AgentEventKind};
