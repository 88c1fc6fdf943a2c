//! The types of the protocol: events, messages, the input of a run and what an agent can do. Optional
//! fields are omitted, never `null`.

mod capabilities;
mod event;
mod input;
mod message;
mod outcome;

pub use capabilities::Capabilities;
pub use event::{Event, EventKind};
pub use input::{ContextEntry, InputMessage, InputTool, ResumeEntry, ResumeStatus, RunAgentInput};
pub use message::{Content, ContentPart, FunctionCall, Message, PartSource, WireToolCall};
pub use outcome::{Interrupt, Outcome, SubagentOutcome, TokenUsage};
