//! Hooks that guard: what an agent may say, read and do.

#[cfg(feature = "pii")]
mod pii;
#[cfg(feature = "words")]
mod words;

#[cfg(feature = "pii")]
pub use pii::{
    PiiCallback, PiiCluster, PiiDetected, PiiDetector, PiiFormat, PiiHashKey, PiiKind, PiiMatch,
    PiiPattern, PiiPatternError, PiiReplacement, PiiScanner, PiiStrategy, pii_clusters,
    settled_clusters,
};
#[cfg(feature = "words")]
pub use words::{WordList, WordListError, WordMatch};
