//! Traces the arguments of tool calls to where they came from, and asks about those that others brought.

mod doubts;
mod entered;
mod globs;
mod hook;
mod kept;
mod labels;
#[cfg(feature = "policy")]
mod options;
mod reading;
mod settings;
mod shared;
mod told;
mod tracer;

pub(crate) use entered::sources::Sources;
pub use globs::ProvenanceError;
pub use hook::Provenance;
pub use labels::Sink;
pub use settings::Handles;
pub(crate) use tracer::Tracer;
