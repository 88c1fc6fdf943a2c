//! The events of a call that hooks receive, and how a hook directs a call.

mod accessors;
mod acting;
mod call;
mod chunk;
mod copy;
mod error;
mod flow;
mod history;
mod mask;
mod reasoning;
mod summary;
mod system;
mod table;

pub(crate) use accessors::of_a_call;
pub use acting::{PostActing, PreActing};
pub use call::{PostCall, PreCall, Settled};
pub use chunk::{ActingChunk, ReasoningChunk, SummaryChunk};
pub(crate) use copy::EventCopy;
pub use error::{ErrorEvent, ErrorPhase, Substitute};
pub(crate) use flow::Decided;
pub use flow::{Decision, Flow, IntoFlow};
pub use mask::EventMask;
pub use reasoning::{PostReasoning, PreReasoning};
pub use summary::{PostSummary, PreSummary};
#[doc(hidden)]
pub use table::Look;
pub use table::{Event, EventHandler, EventKind, HookEvent};
