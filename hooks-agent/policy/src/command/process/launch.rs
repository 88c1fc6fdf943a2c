//! A program to launch, and its outcome.

use std::ffi::OsString;
use std::path::PathBuf;

/// The variables that every command has, if the program has them: without them, programs find neither
/// their files nor the network.
const PASSED: [&str; 35] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "SystemRoot",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "UV_CACHE_DIR",
    "UV_LINK_MODE",
    "UV_NATIVE_TLS",
    "UV_NO_CACHE",
    "UV_OFFLINE",
    "UV_PROJECT_ENVIRONMENT",
    "UV_PYTHON",
    "UV_PYTHON_INSTALL_DIR",
    "UV_PYTHON_PREFERENCE",
    "UV_TOOL_DIR",
];

/// The beginnings of the names of others.
const PASSED_BEGINNINGS: [&str; 2] = ["LC_", "XDG_"];

/// A program to start.
#[derive(Clone)]
pub(crate) struct Launch {
    pub(crate) program: OsString,
    pub(crate) args: Vec<String>,
    /// Variables with their values.
    pub(crate) env: Vec<(String, String)>,
    /// Variables that are passed on.
    pub(crate) pass_env: Vec<String>,
    /// The working directory, absolute.
    pub(crate) dir: PathBuf,
}

/// A program that ended by itself.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Launch {
    /// Returns the whole environment of the program; a later value of a name replaces an earlier
    /// one.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        let is_passed = |name: &OsString| {
            let name = name.to_string_lossy();
            let is_listed = PASSED.contains(&&*name)
                || PASSED_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
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
