//! Passes on what an agent does, while it happens, to somebody who does not hold the agent.

mod hook;
mod queue;
mod receiver;
mod run;
mod selection;
mod sink;
mod stream_type;

pub use hook::Streaming;
pub use receiver::{SseReceiver, StreamReceiver};
pub use sink::Slow;
pub use stream_type::StreamType;
