//! The script that runs the guard, and answers in its place if it cannot.

use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hooks_core::BoxError;
use sha2::{Digest, Sha256};

use crate::home::home;
use crate::install::{text_of, write_whole};
use hooks_agent_guest::{Dialect, Unread};

/// The script of an agent.
pub(crate) struct Script {
    pub(crate) path: PathBuf,
}

impl Script {
    /// Returns the script of an agent, in the folder of the user's settings: an agent writes in that of its project.
    pub(crate) fn of(agent: Dialect, project: Option<&Path>) -> Result<Self, BoxError> {
        let folder = match env::var_os("XDG_CONFIG_HOME").filter(|it| !it.is_empty()) {
            Some(folder) => PathBuf::from(folder).join("hooks-agent"),
            None => home()?.join(".config/hooks-agent"),
        };
        let of_project = match project {
            None => String::new(),
            Some(project) => {
                let path = project.canonicalize()?;
                let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
                let [a, b, c, d, ..] = <[u8; 32]>::from(digest);
                format!("-{:08x}", u32::from_be_bytes([a, b, c, d]))
            }
        };
        Ok(Self { path: folder.join(format!("{}{of_project}.sh", agent.name())) })
    }

    /// Returns the command of an event. It has no `$`: some agents fill in variables before a shell does.
    pub(crate) fn command(&self, agent: Dialect, event: &str) -> Result<String, BoxError> {
        let run = self.run(event)?;
        if run.contains('$') {
            return Err(
                format!("{run} has a `$`, which some agents replace: use another folder").into()
            );
        }
        // What the script answers for a guard that is dead, for a script that is not there. `sh` says so itself.
        let answer = unchecked(agent, event);
        Ok(match &answer.json {
            Some(json) if answer.code == 0 => {
                format!("{run} || echo {}", quoted(&json.to_string()))
            }
            _ => format!("{run} || exit 2"),
        })
    }

    /// Returns what runs the script at an event.
    pub(crate) fn run(&self, event: &str) -> Result<String, BoxError> {
        Ok(format!("sh {} {event}", self.word()?))
    }

    /// Returns its path as it is in a command.
    pub(crate) fn word(&self) -> Result<String, BoxError> {
        Ok(quoted(text_of(&self.path)?))
    }

    /// Writes the script.
    pub(super) fn write(
        &self,
        agent: Dialect,
        guard: &[OsString],
        events: &[&str],
    ) -> Result<(), BoxError> {
        write_whole(&self.path, &Self::text(agent, guard, events)?, None)
    }

    /// Returns the text of the script that runs a guard.
    pub(crate) fn text(
        agent: Dialect,
        guard: &[OsString],
        events: &[&str],
    ) -> Result<String, BoxError> {
        let mut command = String::new();
        for word in guard {
            let word = word.to_str().ok_or("a path is not in UTF-8")?;
            write!(command, "{} ", quoted(word))?;
        }
        let mut text = format!(
            "#!/bin/sh\n\
             # Runs the guard of {} at the event of the first argument: written by `hooks-agent install`.\n\
             # A guard that is killed, missing or silent blocks the event, in the form of the agent.\n\
             answer=$({command}--event \"$1\")\n\
             code=$?\n",
            agent.agent(),
        );
        // One that answers by its exit code alone is silent where it lets pass.
        let is_silent = events.iter().all(|event| unchecked(agent, event).json.is_none());
        let spoke = if is_silent { "" } else { " && [ -n \"$answer\" ]" };
        write!(
            text,
            "if [ $code -eq 0 ]{spoke}; then\n  printf '%s\\n' \"$answer\" || exit 2\n  exit 0\nfi\n"
        )?;
        text.push_str("case $1 in\n");
        for event in events {
            let answer = unchecked(agent, event);
            writeln!(text, "  {event})")?;
            if answer.json.is_none() {
                // The guard has said why.
                writeln!(text, "    [ $code -eq 2 ] && exit 2")?;
            }
            if let Some(error) = &answer.error {
                writeln!(text, "    echo {} >&2", quoted(error))?;
            }
            if let Some(json) = &answer.json {
                writeln!(text, "    printf '%s\\n' {} || exit 2", quoted(&json.to_string()))?;
            }
            writeln!(text, "    exit {} ;;", answer.code)?;
        }
        text.push_str(
            "  *)\n    echo 'the guard does not know this event' >&2\n    exit 2 ;;\nesac\n",
        );
        Ok(text)
    }

    /// Returns the words of the guard that a script runs.
    pub(crate) fn guard_in(text: &str) -> Option<Vec<OsString>> {
        let line = text.lines().find_map(|line| line.strip_prefix("answer=$("))?;
        let mut rest = line.strip_suffix(" --event \"$1\")")?;
        let mut words = Vec::new();
        while !rest.is_empty() {
            let mut word = String::new();
            // As `quoted` writes it: a quote inside of a word ends it, is escaped, and goes on with it.
            loop {
                let (part, after) = rest.strip_prefix('\'')?.split_once('\'')?;
                word.push_str(part);
                rest = after;
                match rest.strip_prefix(r"\'") {
                    Some(after) => {
                        word.push('\'');
                        rest = after;
                    }
                    None => break,
                }
            }
            words.push(word.into());
            rest = rest.strip_prefix(' ').unwrap_or(rest);
        }
        Some(words)
    }

    /// Removes the script, if it is there.
    pub(super) fn remove(&self) -> Result<(), BoxError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(format!("{} cannot be removed: {error}", self.path.display()).into())
            }
            _ => Ok(()),
        }
    }
}

/// Returns the answer of a guard that could not check an event.
fn unchecked(agent: Dialect, event: &str) -> hooks_agent_guest::Answer {
    Unread::named(std::io::empty(), Some(agent), Some(event), "the guard did not answer").answer()
}

/// Returns a word as a shell reads it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
