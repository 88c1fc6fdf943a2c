//! The events of a call that hooks receive.

mod accessors;
mod acting;
mod any;
mod applied;
mod blocking;
mod call;
mod chunk;
mod error;
mod flow;
mod hook;
mod install;
mod kind;
mod list;
pub mod priority;
mod reasoning;
mod summary;
mod system;

pub use acting::{PostActing, PreActing};
pub use any::HookEvent;
pub(crate) use applied::{
    answered, contained, contained_now, message_of, no_flow, recover, report, result_of, settle_now,
};
pub use blocking::Blocking;
pub use call::{PostCall, PreCall, Settled};
pub use chunk::{ActingChunk, ReasoningChunk, SummaryChunk};
pub use error::{ErrorEvent, ErrorPhase, Substitute};
pub(crate) use flow::Decided;
pub use flow::{Decision, Flow, IntoFlow};
pub use hook::AgentHook;
pub(crate) use install::{
    install_call, install_error, install_look, install_one, install_post, install_pre,
};
pub use kind::{EventKind, EventMask};
pub use list::register_call_hook;
pub(crate) use list::{EventPoints, HookList, Place};
pub use reasoning::{PostReasoning, PreReasoning};
pub use summary::{PostSummary, PreSummary};
