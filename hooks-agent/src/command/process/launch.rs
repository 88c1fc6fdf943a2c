//! What is started, and how it ended.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The variables that every command has, if the program has them.
const PASSED: [&str; 7] = ["PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR", "SystemRoot"];

/// A program to start.
#[derive(Clone)]
pub(in crate::command) struct Launch {
    pub(in crate::command) program: OsString,
    pub(in crate::command) args: Vec<String>,
    /// Variables with their values.
    pub(in crate::command) env: Vec<(String, String)>,
    /// Variables that are passed on.
    pub(in crate::command) pass_env: Vec<String>,
    /// The working directory, absolute.
    pub(in crate::command) dir: PathBuf,
}

/// A program that ended by itself.
#[derive(Debug)]
pub(in crate::command) struct Ended {
    pub(in crate::command) code: i32,
    pub(in crate::command) stdout: Vec<u8>,
    pub(in crate::command) stderr: Vec<u8>,
}

/// Why a program has no outcome.
#[derive(Debug, thiserror::Error)]
pub(in crate::command) enum ProcessError {
    #[error("there is no tokio runtime to start it on")]
    NoRuntime,
    #[error("it did not start")]
    NotStarted(#[source] io::Error),
    #[error("it did not end within {0:?}")]
    TimedOut(Duration),
    #[error("signal {0} ended it")]
    Signal(i32),
    #[error("it wrote more than {0} bytes to standard output")]
    TooMuchOutput(usize),
    #[error("its pipes failed")]
    Pipe(#[source] io::Error),
    #[cfg(not(unix))]
    #[error("commands run on Unix alone")]
    Unsupported,
}

impl Launch {
    /// Returns the whole environment of the program; a later value of a name replaces an earlier
    /// one.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let is_passed = |name: &OsString| {
            let name = name.to_string_lossy();
            let is_listed = PASSED.contains(&&*name) || name.starts_with("LC_");
            is_listed || self.pass_env.iter().any(|passed| *passed == *name)
        };
        let dir = self.dir.as_os_str();
        let dirs =
            ["CLAUDE_PROJECT_DIR", "HOOKS_PROJECT_DIR"].map(|it| (it.into(), dir.to_owned()));
        let own = self.env.iter().map(|(name, value)| (name.into(), value.into()));
        let passed = std::env::vars_os().filter(|(name, _)| is_passed(name));
        passed.chain(dirs).chain(own).collect()
    }
}
