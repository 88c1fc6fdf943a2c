//! Operations on stores: export and import of threads as lines of JSON.

mod error;
mod export;
mod import;
mod lines;

pub use error::{ExportError, ImportError};
pub use export::export;
pub use import::{ImportOptions, import};
