//! Where the arguments of tool calls came from: the hook that asks about those that others brought.

mod actions;
mod address;
mod arguments;
mod choice;
mod destination;
mod doubt;
mod fold;
mod hook;
mod kept;
mod labels;
mod needle;
#[cfg(feature = "policy")]
mod options;
mod settings;
mod sources;
mod structure;
mod text;
mod trace;
mod tracer;

pub use hook::{Provenance, ProvenanceError};
pub use labels::Sink;
pub use settings::Handles;
pub(crate) use sources::Sources;
pub(crate) use tracer::Tracer;
