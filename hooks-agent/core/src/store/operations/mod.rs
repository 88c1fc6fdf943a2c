//! Operations on stores: export and import of threads as lines of JSON, and forks.

mod error;
mod export;
mod fork;
mod import;
mod lines;

pub use error::{ExportError, ForkError, ImportError};
pub use export::export;
pub use fork::fork;
pub use import::{ImportOptions, import};
