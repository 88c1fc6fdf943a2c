//! What operators do with stores: open one by its URL, look what it has, move threads as lines of JSON.

mod error;
mod export;
mod import;
mod open;

pub use error::{ExportError, ImportError};
pub use export::export;
pub use import::import;
pub use open::{check, open};
