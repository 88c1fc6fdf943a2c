//! The folder of the user.

use std::env;
use std::path::PathBuf;

use hooks_core::BoxError;

/// Returns the folder of the user.
pub(crate) fn home() -> Result<PathBuf, BoxError> {
    let home = env::var_os("HOME").or_else(|| env::var_os("USERPROFILE"));
    let home = home.filter(|home| !home.is_empty()).map(PathBuf::from);
    home.ok_or_else(|| "where the settings of the user are is not known: set `HOME`".into())
}
