//! Reports of errors for another process: kind, texts, and whether the error is transient. Imports
//! nothing of the crate, so that the error of any module can hold a report.

mod causes;
mod error_report;
mod kind;

pub(crate) use causes::shared_cause;
pub use error_report::ErrorReport;
pub use kind::ErrorKind;
