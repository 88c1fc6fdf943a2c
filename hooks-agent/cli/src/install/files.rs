//! Agents whose hooks are files of their own: the plug-in of opencode, and the programs of Cline.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hooks_core::BoxError;
use serde_json::json;

use crate::home::home;
use crate::install::script::Script;
use crate::install::{elsewhere, text_of, write_whole};
use hooks_agent_guest::Dialect;

const PLUGIN: &str = include_str!("opencode.js");

/// What our files say of themselves.
const MARK: &str = "`hooks-agent install ";

/// The files of an agent.
pub(crate) struct Files {
    pub(crate) events: &'static [&'static str],
    /// Each with its text.
    pub(crate) files: Vec<(PathBuf, String)>,
}

impl Files {
    /// Returns the files that run a script; nothing if the agent has its hooks in settings.
    pub(crate) fn of(
        agent: Dialect,
        project: Option<&Path>,
        script: &Script,
    ) -> Result<Option<Self>, BoxError> {
        match (agent.name(), project) {
            ("opencode", Some(project)) if !project.is_dir() => {
                Err(format!("{} is no folder", project.display()).into())
            }
            ("opencode", project) => {
                if env::var_os("OPENCODE_CONFIG_DIR").is_some() {
                    return Err(elsewhere("OPENCODE_CONFIG_DIR"));
                }
                let of_user = env::var_os("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty());
                let folder = match (project, of_user) {
                    (Some(project), _) => project.join(".opencode"),
                    (None, Some(folder)) => PathBuf::from(folder).join("opencode"),
                    (None, None) => home()?.join(".config/opencode"),
                };
                let path = json!(text_of(&script.path)?).to_string();
                let file =
                    (folder.join("plugin/hooks-agent.js"), PLUGIN.replacen("SCRIPT", &path, 1));
                let events = &["chat.message", "tool.execute.before", "tool.execute.after"];
                Ok(Some(Self { events, files: vec![file] }))
            }
            ("cline", Some(_)) => Err("`install` knows the hooks of Cline for a user alone".into()),
            ("cline", None) => {
                let events = &["PreToolUse", "PostToolUse"];
                let folder = home()?.join(".cline/hooks");
                let file = |event: &&str| -> Result<_, BoxError> {
                    // An exit code stops nothing there.
                    let denied = json!({ "cancel": true, "errorMessage": "the guard did not run" });
                    let script = script.run(event)?;
                    let text = format!(
                        "#!/bin/sh\n# The guard of Cline, written by {MARK}cline`.\n{script} || echo '{denied}'\n"
                    );
                    Ok((folder.join(event), text))
                };
                let files = events.iter().map(file).collect::<Result<_, _>>()?;
                Ok(Some(Self { events, files }))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn print(&self, sign: char) {
        for (path, _) in &self.files {
            say!("{sign} {}", path.display());
        }
    }

    /// Refuses a file of others in the place of one of ours.
    pub(super) fn check(&self) -> Result<(), BoxError> {
        for (path, _) in &self.files {
            if is_of_others(path) {
                let path = path.display();
                return Err(
                    format!("{path} is another hook: move it away; nothing was changed").into()
                );
            }
        }
        Ok(())
    }

    pub(super) fn write(&self) -> Result<(), BoxError> {
        for (path, text) in &self.files {
            #[cfg(unix)]
            let mode =
                text.starts_with("#!").then(|| std::os::unix::fs::PermissionsExt::from_mode(0o755));
            #[cfg(not(unix))]
            let mode = None;
            write_whole(path, text, mode)?;
        }
        Ok(())
    }

    /// Removes our files, if they are there.
    pub(super) fn remove(&self) -> Result<(), BoxError> {
        for (path, _) in self.files.iter().filter(|(path, _)| !is_of_others(path)) {
            match fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(format!("{} cannot be removed: {error}", path.display()).into());
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn is_of_others(path: &Path) -> bool {
    path.exists() && !fs::read_to_string(path).is_ok_and(|text| text.contains(MARK))
}
