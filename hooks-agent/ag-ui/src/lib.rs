//! An agent behind AG-UI, the protocol between agents and front ends.
//!
//! This crate is the feature `ag-ui` of [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent); programs use it from there, as
//! `builtin::connect::ag_ui`. [The guide] has what clients get and what they may send.
//!
//! [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/ag_ui/index.html

mod admit;
mod caller;
mod error;
mod hooks;
mod http;
mod protocol;
mod refused;
mod request;
mod run;
mod server;
mod timestamp;
mod transcript;
mod turns;

pub use caller::{Caller, Denied};
pub use error::AgUiError;
pub use http::router;
pub use protocol::{
    Capabilities, Content, ContentPart, ContextEntry, Event, EventKind, FunctionCall, InputMessage,
    InputTool, Interrupt, Message, Outcome, PartSource, ResumeEntry, ResumeStatus, RunAgentInput,
    SubagentOutcome, TokenUsage, WireToolCall,
};
pub use refused::Refused;
pub use request::client::ClientInput;
pub use run::RunEvents;
pub use server::AgUi;
