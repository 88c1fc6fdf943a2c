//! Where guards keep their state, and where they are asked.

use std::env;
use std::path::{Path, PathBuf};

use hooks_core::BoxError;

use crate::home::home;

/// Returns the file of threads: that of the arguments, that of the environment, or that of the user.
pub(crate) fn state_file(named: Option<&Path>) -> Result<PathBuf, BoxError> {
    let of_program = || env::var_os("HOOKS_AGENT_STATE").map(PathBuf::from);
    let named = named.map(Path::to_owned).or_else(of_program);
    let of_user = || {
        let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from);
        let home = || Some(home().ok()?.join(".local/state"));
        Some(state.or_else(home)?.join("hooks-agent/threads.db"))
    };
    named.or_else(of_user).ok_or_else(|| {
        "no file for the values of threads: write `--state threads.db`, or set `HOME`".into()
    })
}

/// Returns the socket beside a file of threads.
pub(crate) fn socket_file(state: &Path) -> Result<PathBuf, BoxError> {
    Ok(std::path::absolute(state)?.with_file_name("serve.sock"))
}
