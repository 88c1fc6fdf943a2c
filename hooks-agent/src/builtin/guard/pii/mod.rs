//! Personal data in text: detectors, what replaces a match, and how overlapping matches are merged.

mod custom;
mod detector;
mod kind;
mod overlap;
mod replacement;
mod scanner;
mod shape;

pub use custom::{PiiCallback, PiiPattern, PiiPatternError};
pub use detector::{PiiDetector, PiiMatch};
pub use kind::PiiKind;
pub use overlap::{PiiCluster, pii_clusters, settled_clusters};
pub use replacement::{PiiDetected, PiiFormat, PiiHashKey, PiiReplacement, PiiStrategy};
pub use scanner::PiiScanner;
