//! The events of a call that hooks receive, and how a hook directs a call.

mod accessors;
mod acting;
mod any;
mod call;
mod chunk;
mod error;
mod flow;
mod kind;
mod reasoning;
mod summary;
mod system;

pub use acting::{PostActing, PreActing};
pub use any::HookEvent;
pub use call::{PostCall, PreCall, Settled};
pub use chunk::{ActingChunk, ReasoningChunk, SummaryChunk};
pub use error::{ErrorEvent, ErrorPhase, Substitute};
pub(crate) use flow::Decided;
pub use flow::{Decision, Flow, IntoFlow};
pub use kind::{EventKind, EventMask};
pub use reasoning::{PostReasoning, PreReasoning};
pub use summary::{PostSummary, PreSummary};
