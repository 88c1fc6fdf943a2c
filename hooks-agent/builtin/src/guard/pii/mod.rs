//! Detectors of personal data, and what replaces a match.
//! [`PiiDetection`](crate::guard::PiiDetection) is the hook.

mod allow;
mod confidence;
mod custom;
mod detector;
mod folded;
mod groups;
mod id;
mod kind;
mod overlap;
mod recognition;
mod register;
mod replacement;
mod scanner;
mod shape;

pub use allow::PiiAllowed;
pub use confidence::PiiConfidence;
pub use custom::{PiiCallback, PiiPattern, PiiPatternError};
pub use detector::{PiiDetector, PiiMatch};
pub use groups::Kinds;
pub use kind::PiiKind;
pub(crate) use overlap::{pii_clusters, settled_clusters};
pub use recognition::PiiRecognition;
pub use register::{PiiCount, PiiRegister};
pub use replacement::{PiiDetected, PiiFormat, PiiHashKey, PiiReplacement, PiiStrategy};
pub use scanner::{PiiScanner, UnknownRegion};
