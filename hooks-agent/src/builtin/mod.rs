//! Built-in hooks. Each uses the public API only and is independent of the others.

mod control;
mod guard;
mod limit;
mod observe;
mod recover;

#[cfg(feature = "pii")]
pub use guard::pii::{self, detection::PiiDetection, vault::Vault};
#[cfg(feature = "words")]
pub use guard::{WordList, WordListError, WordMatch};
pub use observe::{JsonlTrace, JsonlTraceBuilder, TraceError};
