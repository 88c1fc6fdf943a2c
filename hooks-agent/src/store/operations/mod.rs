//! What operators do with stores: open one by its URL, look what it has, move threads as lines of JSON.

mod error;
mod export;
mod import;
mod lines;
mod open;

pub use error::{ExportError, ImportError};
pub use export::export;
pub use import::{ImportOptions, import};
pub use open::{check, open, open_read_only};
