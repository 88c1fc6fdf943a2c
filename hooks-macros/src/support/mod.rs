//! Parts that every macro needs: gathered errors, attribute arguments, the paths of the runtime.

pub(crate) mod arguments;
pub(crate) mod borrows;
pub(crate) mod errors;
pub(crate) mod helpers;
pub(crate) mod runtime;
pub(crate) mod spans;
pub(crate) mod types;
pub(crate) mod words;
