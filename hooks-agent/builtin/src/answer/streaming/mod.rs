//! Passes on what an agent does, while it happens, to somebody who does not hold the agent.

mod event;
mod hook;
mod queue;
mod receiver;
mod run;
mod selection;
mod sink;

pub use event::{StreamEvent, StreamEventKind, StreamOutcome, StreamType};
pub use hook::Streaming;
pub use receiver::{SseReceiver, StreamReceiver};
pub use sink::Slow;
