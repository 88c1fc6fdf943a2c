//! A file of settings, with what its commands receive.

use std::fmt;
use std::path::{Path, PathBuf};

/// A `settings.json` of a coding agent, or the `hooks.json` of a plug-in for one.
///
/// A path is one too. Its commands receive the variables of the `env` of the file; `CLAUDE_PLUGIN_ROOT`,
/// if the file is `hooks/hooks.json` of a plug-in; and what is set here.
///
/// ```
/// use hooks_agent::command::SettingsFile;
///
/// let file = SettingsFile::at(".claude/settings.json").env("MODE", "strict").pass_env("GUARD_TOKEN");
/// # let _ = file;
/// ```
#[derive(Clone)]
#[must_use = "its commands run if it is added to `CommandHooks`"]
pub struct SettingsFile {
    pub(super) path: PathBuf,
    pub(super) env: Vec<(String, String)>,
    pub(super) pass_env: Vec<String>,
}

impl SettingsFile {
    /// Names a file.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), env: Vec::new(), pass_env: Vec::new() }
    }

    /// Sets a variable of all commands of the file. It holds before the `env` of the file, and that of a
    /// handler holds before both.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Passes a variable of this program on to all commands of the file, if there is one of this name.
    pub fn pass_env(mut self, name: impl Into<String>) -> Self {
        self.pass_env.push(name.into());
        self
    }

    /// Returns the folder of the plug-in, if the file is one of a plug-in.
    pub(super) fn plugin(&self) -> Option<&Path> {
        let folder = self.path.parent()?;
        let is_of_plugin = self.path.ends_with("hooks/hooks.json");
        folder.parent().filter(|root| is_of_plugin && !root.as_os_str().is_empty())
    }
}

impl<P: Into<PathBuf>> From<P> for SettingsFile {
    fn from(path: P) -> Self {
        Self::at(path)
    }
}

/// Shows the names of variables without their values.
impl fmt::Debug for SettingsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let env: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("SettingsFile")
            .field("path", &self.path)
            .field("env", &env)
            .field("pass_env", &self.pass_env)
            .finish()
    }
}
