//! Maps failures of the index to errors.

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;

use crate::rag::error::KnowledgeError;

/// Runs a step on the index. `tantivy` panics on some damaged files.
pub(super) fn on_index<T>(
    folder: &Path,
    step: impl FnOnce() -> Result<T, TantivyError>,
) -> Result<T, KnowledgeError> {
    let index = || folder.to_owned();
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) if is_damage(&error) => {
            Err(KnowledgeError::Damaged { index: index(), source: error.into() })
        }
        Ok(Err(error)) => Err(KnowledgeError::Index { index: index(), source: error.into() }),
        Err(_) => Err(damaged(folder, "a file of it cannot be decoded")),
    }
}

pub(super) fn damaged(folder: &Path, reason: &str) -> KnowledgeError {
    KnowledgeError::Damaged { index: folder.to_owned(), source: reason.into() }
}

fn is_damage(error: &TantivyError) -> bool {
    let is_cut = |kind| matches!(kind, ErrorKind::UnexpectedEof | ErrorKind::InvalidData);
    match error {
        TantivyError::DataCorruption(_)
        | TantivyError::IncompatibleIndex(_)
        | TantivyError::DeserializeError(_)
        | TantivyError::SchemaError(_)
        | TantivyError::FieldNotFound(_)
        | TantivyError::OpenReadError(
            OpenReadError::FileDoesNotExist(_) | OpenReadError::IncompatibleIndex(_),
        ) => true,
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => {
            is_cut(io_error.kind())
        }
        TantivyError::IoError(error) => is_cut(error.kind()),
        _ => false,
    }
}
