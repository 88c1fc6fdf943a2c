//! Built-in hooks. Each uses the public API only and is independent of the others.

mod control;
mod guard;
mod limit;
mod observe;
mod recover;

#[cfg(feature = "pii")]
pub use guard::{
    PiiCallback, PiiCluster, PiiDetected, PiiDetector, PiiFormat, PiiHashKey, PiiKind, PiiMatch,
    PiiPattern, PiiPatternError, PiiReplacement, PiiScanner, PiiStrategy, pii_clusters,
    settled_clusters,
};
#[cfg(feature = "words")]
pub use guard::{WordList, WordListError, WordMatch};
pub use observe::{JsonlTrace, JsonlTraceBuilder, TraceError};
